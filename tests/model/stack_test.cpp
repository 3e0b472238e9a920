// A stack's connections, costs of bytes, and looks at gradients, by hand.
#include "models/fabric/flow_system.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/strategy/looks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

double time_of(const Cluster& cluster, Operation operation, Algorithm algorithm, Bytes bytes) {
  CollectiveChoice choice;
  choice.algorithm = algorithm;
  const CachedPrices prices(cluster);
  return prices(prices.decide(operation, choice, bytes)).total().si();
}

/// p workers with links of 1 GB/s, and connections of 100 MB/s between machines.
Cluster with_connections(int p, int connections) {
  Cluster cluster = star_cluster(p, BytesPerSecond(1e9));
  cluster.stack.connection_bandwidth = BytesPerSecond(1e8);
  cluster.stack.connections = connections;
  return cluster;
}

/// Backward: 30 ms, then the last layer's gradient of 8 MB is ready; 10 ms, then the first layer's of 2 MB. Forward
/// takes 30 ms, update 2.
Workload two_layers() { return workload_of(30_ms, {{8e6, 0.030}, {2e6, 0.010}}, {}, 2_ms); }

/// Two workers with links of 100 MB/s: a ring takes 10 ms for each MB.
StepForecast with_cycle(Seconds cycle, const Exchange& exchange, int workers = 2, double speed = 1) {
  Cluster cluster = star_cluster(workers, BytesPerSecond(1e8));
  cluster.groups = {{1, speed}};  // the last worker
  cluster.stack.cycle = cycle;
  return forecast(scenario_of(cluster, AllReduceStrategy{ring_choice(), exchange, Carrier::automatic}), two_layers());
}

constexpr Exchange kPerTensor{.grouping = Grouping::per_tensor};
Exchange bucketed(bool overlap) {
  return {.grouping = Grouping::bucketed, .bucket_cap = 64_MB, .first_bucket = {64_MB}, .overlap = overlap};
}

}  // namespace

TEST_CASE("a message between machines has the bandwidth of its connections, by hand") {
  // A ring of four: 6 rounds of 1 MB.
  require_close(6 * 0.005, time_of(with_connections(4, 2), Operation::all_reduce, Algorithm::ring, 4_MB), 1e-12,
                "1 MB at 2 x 100 MB/s");
  require_close(6 * 0.001, time_of(with_connections(4, 20), Operation::all_reduce, Algorithm::ring, 4_MB), 1e-12,
                "the link's 1 GB/s are less");
  // Two machines of two GPUs, with 10 GB/s inside. One machine has no connections.
  Cluster machines = with_connections(4, 2);
  machines.topology = Nodes{2, {BytesPerSecond(1e10), {}}, 1};
  require_close(6 * 0.005, time_of(machines, Operation::all_reduce, Algorithm::ring, 4_MB), 1e-12, "between machines");
  // Both GPUs of a machine first exchange 1 MB of an all-gather of 4 MB. Then each sends 2 MB by the one NIC.
  const auto gather = [&] { return time_of(machines, Operation::all_gather, Algorithm::recursive_doubling, 4_MB); };
  require_close(0.0001 + 0.010, gather(), 1e-12, "twice 200 MB/s leave room");
  machines.stack.connections = 6;
  require_close(0.0001 + 0.004, gather(), 1e-12, "both share 1 GB/s, less than 600 MB/s each");
  machines.topology = Nodes{4, {BytesPerSecond(1e10), {}}, 1};
  require_close(6 * 0.0001, time_of(machines, Operation::all_reduce, Algorithm::ring, 4_MB), 1e-12, "inside a machine");
  // A protocol that spends half on flags does so on connections, too.
  Cluster flags = with_connections(4, 2);
  flags.protocols = {{"LL", 1.0, 0.5}};
  require_close(6 * 0.010, time_of(flags, Operation::all_reduce, Algorithm::ring, 4_MB), 1e-12, "1 MB at 100 MB/s");
}

TEST_CASE("a link of just that bandwidth is as good as the limit") {
  // Four workers with connections of 2 x 100 MB/s; the last one's link has 200 MB/s.
  Cluster cluster = with_connections(4, 2);
  cluster.groups = {{1, 1.0, BytesPerSecond(2e8)}};
  require_close(6 * 0.005, time_of(cluster, Operation::all_reduce, Algorithm::ring, 4_MB), 1e-12, "1 MB at 200 MB/s");
  Fabric fabric(cluster, 0);
  FlowSystem system;
  for (int rank = 0; rank < 4; ++rank) {
    system.flows.emplace_back();
    system.flows.back().from = rank;
    system.flows.back().to = (rank + 1) % 4;
  }
  const FoldedFlows folded = fold_flows(system, fabric);
  for (const QuotientFlow& flow : folded.quotient.flows) CHECK_FALSE(flow.links.empty());
}

TEST_CASE("pushes have the bandwidth of their connections, by hand") {
  // Two workers push 1 MB each to one server. They share its 1 GB/s, which is more than one connection each.
  const auto push = [](int connections) {
    const CachedPrices prices(with_connections(2, connections));
    const std::vector<Bytes> shard = {1_MB};
    return prices.shards(ShardExchange::push, shard, false).total().si();
  };
  require_close(0.010, push(1), 1e-12, "1 MB at 100 MB/s");
  require_close(0.002, push(6), 1e-12, "2 MB at 1 GB/s");
}

TEST_CASE("neighbours have the bandwidth of their connections, by hand") {
  const Cluster cluster = with_connections(6, 2);
  const CachedPrices prices(cluster);
  const Neighbours ring{NeighbourGraph::ring};
  require_close(0.005, prices.neighbours(ring, 1_MB, {}).total().si(), 1e-12, "two messages of 200 MB/s leave room");
  CHECK(prices.neighbours_are_exact(ring));
}

TEST_CASE("the costs of bytes end at their limit, by hand") {
  Cluster cluster = star_cluster(4, BytesPerSecond(1e9));
  cluster.stack.sum_byte_cost = 1_ns_per_B;
  cluster.stack.gather_byte_cost = 2_ns_per_B;
  const auto sum = [&] { return time_of(cluster, Operation::all_reduce, Algorithm::ring, 8_MB); };
  const auto gather = [&] { return time_of(cluster, Operation::all_gather, Algorithm::ring, 8_MB); };
  // The rings: 6 rounds of 2 MB, and 3.
  require_close(0.012 + 0.008, sum(), 1e-12, "1 ns for each of 8 MB");
  require_close(0.006 + 0.012, gather(), 1e-12, "2 ns for each of the 6 MB that a worker gets");
  cluster.stack.byte_cost_limit = 2_MB;
  require_close(0.012 + 0.002, sum(), 1e-12, "1 ns for each of 2 MB");
  require_close(0.006 + 0.003, gather(), 1e-12, "2 ns for each of 1.5 MB");
}

TEST_CASE("looks find gradients, by hand") {
  // From the begin of backward: tensors are ready at 30 and 40. Looks every 16 ms find them at 32 and 48. Exchanges:
  // 32 .. 112, 112 .. 132. Update and forward pass: 132 + 2 + 30.
  const StepForecast step = with_cycle(16_ms, kPerTensor);
  require_close(0.164, step.step.si(), 1e-12, "132 + 32");
  CHECK(step.breakdown.stack.si() == 0);  // from 40, where backward ends, only exchanges are waited for
  require_close(0.164, with_cycle(16_ms, bucketed(true)).step.si(), 1e-12, "each look has a bucket of its own");
  // Looks every 50 ms find both at 50: 50 .. 150. From 40 to 50 only the look is waited for.
  const StepForecast late = with_cycle(50_ms, bucketed(true));
  require_close(0.182, late.step.si(), 1e-12, "150 + 32");
  require_close(0.010, late.breakdown.stack.si(), 1e-12, "40 .. 50");
  require_close(0.182, with_cycle(50_ms, kPerTensor).step.si(), 1e-12, "50 .. 130 .. 150");
  // A look at the very time at which a tensor is ready finds it.
  require_close(0.162, with_cycle(10_ms, kPerTensor).step.si(), 1e-12, "30 .. 110 .. 130, + 32");
  // After backward: ready at 40, found at 48.
  require_close(0.180, with_cycle(16_ms, bucketed(false)).step.si(), 1e-12, "48 .. 148, + 32");
  // The slowest worker, of half the speed, is ready at 60 and 80: 64 .. 144, 144 .. 164. Its update and forward pass
  // take 64.
  require_close(0.228, with_cycle(16_ms, kPerTensor, 2, 0.5).step.si(), 1e-12, "164 + 64");
  require_close(0.264, with_cycle(50_ms, bucketed(true), 2, 0.5).step.si(), 1e-12, "100 .. 200, + 64");
  // A single worker exchanges nothing.
  require_close(0.072, with_cycle(16_ms, bucketed(true), 1).step.si(), 1e-12, "30 + 40 + 2");
}

TEST_CASE("looks are counted from the begin of backward") {
  CHECK(look_at(0_ms, 5_ms) == 0);
  CHECK(look_at(1_us, 5_ms) == 1);
  CHECK(look_at(5_ms, 5_ms) == 1);
  CHECK(look_at(Seconds(0.1 + 0.2), 100_ms) == 3);  // 0.30000000000000004
}
