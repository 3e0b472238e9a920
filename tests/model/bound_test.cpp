// The lower bound of a step: derived by hand, and never above the equations' step.
#include "models/describe/json.hpp"
#include "models/equation/lower_bound.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/scenario/library.hpp"
#include "models/scenario/workload_document.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_gossip.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Cluster random_cluster() {
  const int size = integer_between(1, 6),
            p = size * integer_between(1, 4) - integer_between(0, size - 1);  // the last machine or rack may be smaller
  Cluster cluster = star_cluster(p, BytesPerSecond(positive_between(1e8, 1e11)), Seconds(positive_between(1e-7, 1e-3)));
  switch (integer_between(0, 2)) {
    case 0: {
      const auto racks =
          coin() ? std::optional<NodeRacks>{}
                 : NodeRacks{integer_between(1, 3), real_between(1, 8), Seconds(positive_between(1e-8, 1e-4))};
      cluster.topology = Nodes{size,
                               {BytesPerSecond(positive_between(1e9, 1e12)), Seconds(positive_between(1e-8, 1e-4))},
                               integer_between(1, size),
                               racks};
      break;
    }
    case 1: cluster.topology = Racks{size, real_between(1, 8), Seconds(positive_between(1e-8, 1e-4))}; break;
    default: break;
  }
  if (coin()) cluster.reduction_cost = SecondsPerByte(positive_between(1e-12, 1e-9));
  if (coin()) cluster.stack.host_cost = SecondsPerByte(positive_between(1e-12, 1e-9));
  if (coin()) cluster.collective_cost = Seconds(positive_between(1e-6, 1e-3));
  if (coin()) {
    cluster.groups.push_back({integer_between(1, p), real_between(0.2, 2), {}, {}});
    if (coin() && !std::holds_alternative<Nodes>(cluster.topology)) {
      cluster.groups[0].bandwidth = BytesPerSecond(positive_between(1e8, 1e11));
      cluster.groups[0].latency = Seconds(positive_between(1e-7, 1e-3));
    }
  }
  if (coin() && (cluster.groups.empty() || !cluster.groups[0].latency))
    cluster.in_network_factor = real_between(0.1, 1);
  return cluster;
}

Workload random_workload() {
  std::vector<std::pair<double, double>> gradients;
  for (int i = integer_between(1, 5); i > 0; --i)
    gradients.emplace_back(4.0 * integer_between(1, 5000000), real_between(0, 0.05));
  Workload w = workload_of(Seconds(real_between(0, 0.1)), gradients, Seconds(real_between(0, 0.02)),
                           Seconds(real_between(0, 0.02)));
  if (coin()) w.accumulation = integer_between(1, 5);
  return w;
}

Strategy random_strategy(int p) {
  Exchange exchange;
  exchange.grouping = static_cast<Grouping>(integer_between(0, 2));
  exchange.overlap = coin();
  switch (integer_between(0, 6)) {
    case 0: {
      AllReduceStrategy all_reduce;
      all_reduce.exchange = exchange;
      return all_reduce;
    }
    case 1: {
      PipelinedStrategy pipelined;
      pipelined.width = integer_between(1, 4);
      pipelined.segments = integer_between(1, 5);
      return pipelined;
    }
    case 2: return random_gossip_rounds(p);
    case 3:
      return LocalSgdStrategy{.steps = integer_between(1, 8),
                              .grouping = exchange.grouping,
                              .outer_update_factor = coin() ? real_between(0, 2) : 0.0};
    case 5: {
      ShardedStrategy sharded{static_cast<ShardingStage>(integer_between(0, 2)), integer_between(0, 3), {}, exchange};
      if (coin()) {
        int g = integer_between(1, p);
        while (p % g != 0) --g;
        sharded.group_size = g > 1 ? g : p;
      }
      if (coin()) sharded.reduce_after = ReduceAfter::every_pass;
      if (coin()) sharded.reduce_dtype = Dtype::bf16;
      return sharded;
    }
    case 4: {
      CollectiveBenchmark benchmark;
      benchmark.operation = static_cast<Operation>(integer_between(0, 4));
      benchmark.size = Bytes(positive_between(1, 1e9));
      return benchmark;
    }
    default: {
      ParameterServerStrategy server;
      server.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
      server.shards = integer_between(1, server.placement == ServerPlacement::co_located ? p : 8);
      server.balance = coin() && server.shards == 1 ? ShardBalance::greedy : ShardBalance::split;
      if (coin()) server.server_reduction_cost = SecondsPerByte(positive_between(1e-12, 1e-9));
      server.exchange = exchange;
      return server;
    }
  }
}

}  // namespace

TEST_CASE("bounds by hand") {
  // p = 4, 10 Gb/s (0.8 ns/B), 5 us, γ = 0.1 ns/B, h = 0.05 ns/B, n = 100 MB. Computation takes 30 + 60 + 2 ms.
  Cluster cluster = star_cluster(4, 10_Gbps, 5_us);
  cluster.reduction_cost = 0.1_ns_per_B;
  cluster.stack.host_cost = 0.05_ns_per_B;
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const auto check = [&](const Scenario& scenario, double compute, double latency, double bandwidth, double reduction,
                         double step, const std::string& what) {
    const Bound bound = lower_bound(scenario, w, build_step_graph(scenario, w));
    require_close(compute, bound.compute.si(), 1e-12, what + ": compute");
    require_close(latency, bound.latency.si(), 1e-12, what + ": latency");
    require_close(bandwidth, bound.bandwidth.si(), 1e-12, what + ": bandwidth");
    require_close(reduction, bound.reduction.si(), 1e-12, what + ": reduction");
    require_close(step, bound.step.si(), 1e-12, what + ": step");
  };
  // lg 4·α = 10 us; 2·3/4·1e8·0.85 ns = 127.5 ms; 3/4·1e8·0.1 ns = 7.5 ms
  check(scenario_of(cluster, AllReduceStrategy{}), 0.092, 10e-6, 0.1275, 7.5e-3, 0.1275, "all-reduce");
  // c = 4: a quarter of the bytes; now the computation decides.
  check(scenario_of(cluster, AllReduceStrategy{}, RatioCompressor{4, {}, {}}), 0.092, 10e-6, 0.031875, 1.875e-3, 0.092,
        "compressed all-reduce");
  // Where switches add up: α, and 1e8·0.85 ns. Nobody adds.
  Cluster adding = cluster;
  adding.in_network_factor = 1;
  check(scenario_of(adding, AllReduceStrategy{}), 0.092, 5e-6, 0.085, 0, 0.092, "all-reduce in the network");
  // Gathered and reduced, each lg 4·α and 3/4·1e8·0.85 ns; a quarter of the update.
  check(scenario_of(cluster, ShardedStrategy{}), 0.0905, 20e-6, 0.1275, 7.5e-3, 0.1275, "sharded");
  // In 2 groups of 2. Gathering and reducing take α and 1/2·1e8·0.85 ns each. Two workers sum 50 MB, which takes α and
  // 2·1/2·5e7·0.85 ns. 50 MB and 25 MB are added. The update is half.
  check(scenario_of(cluster, ShardedStrategy{.group_size = 2}), 0.091, 15e-6, 0.1275, 7.5e-3, 0.1275,
        "sharded in groups");
  // α; 2·1e8·0.85 ns = 170 ms; 2·1e8·0.1 ns = 20 ms
  check(scenario_of(cluster, GossipStrategy{}), 0.092, 5e-6, 0.170, 0.020, 0.170, "gossip");
  // One dedicated server: 2α; 4·1e8·0.8 ns = 320 ms each way, both ways at once. It takes 4·1e8·0.1 ns = 40 ms to add,
  // and 4·2e8·0.05 ns to copy in and out. The server does the 2 ms of update (asynchronous: for each worker).
  ParameterServerStrategy server;
  check(scenario_of(cluster, server), 0.090, 10e-6, 0.320, 0.082, 0.320, "parameter server");
  // Every fourth step has an exchange, and the worker updates itself in the other three.
  server.steps = 4;
  check(scenario_of(cluster, server), 0.0915, 2.5e-6, 0.080, 0.0205, 0.0915, "parameter server every 4 steps");
  server.steps = 1;
  // With a shard on each worker, 3/4 n leave it as pushes and as much as pulls: 150 MB on one link. Each shard adds
  // 4·25 MB, copies 3·50 MB and does a quarter of the update. One shard beside a worker sends to three: 300 MB.
  server.placement = ServerPlacement::co_located;
  server.shards = 4;
  check(scenario_of(cluster, server), 0.090, 10e-6, 0.120, 0.018, 0.120, "a server on every worker");
  server.shards = 1;
  check(scenario_of(cluster, server), 0.090, 10e-6, 0.240, 0.072, 0.240, "one server beside a worker");
  // Copied for 3 remote workers; asynchronously its own worker may do nearly all steps, for which nothing is copied or
  // sent.
  server.consistency = Consistency::stale_synchronous;
  check(scenario_of(cluster, server), 0.090, 10e-6, 0.240, 0.078, 0.240,
        "one server beside a worker, stale-synchronous");
  // One backup worker: any three may make an update, and the fourth push is dropped. Its own worker may be one of them.
  server.consistency = Consistency::backup_workers;
  check(scenario_of(cluster, server), 0.090, 0, 0, 0.032, 0.090, "one server beside a worker, a backup worker");
  server.consistency = Consistency::asynchronous;
  check(scenario_of(cluster, server), 0.090, 0, 0, 0.048, 0.090, "one server beside a worker, asynchronous");
  server = {};
  // A worker copies 100 MB while others' pushes travel: at 10 ns/B in 1 s, and the server's host 4·200 MB in 8 s.
  cluster.stack.host_cost = 10_ns_per_B;
  check(scenario_of(cluster, server), 0.090, 10e-6, 1.0, 8.042, 8.042, "copies");
  cluster.stack.host_cost = 0.05_ns_per_B;
  // Averaged every 4 steps: a fourth of all of it, of the two messages too.
  check(scenario_of(cluster, LocalSgdStrategy{.steps = 4}), 0.092, 2.5e-6, 0.031875, 1.875e-3, 0.092, "local SGD");
  // Two messages of 1 s each do not bound a pipelined step, which overlaps several exchanges.
  cluster.link.latency = 1_s;
  check(scenario_of(cluster, PipelinedStrategy{}), 0.092, 2, 0.1275, 7.5e-3, 0.1275, "pipelined");
  check(scenario_of(cluster, AllReduceStrategy{}), 0.092, 2, 0.1275, 7.5e-3, 2, "not pipelined");
  cluster.link.latency = 5_us;
  // Two speeds: a synchronous step waits for the slower, 92/0.5 ms.
  cluster.groups = {{1, 0.5, {}, {}}};
  check(scenario_of(cluster, AllReduceStrategy{}), 0.184, 10e-6, 0.1275, 7.5e-3, 0.184, "slow worker");
  // Asynchronous servers: each worker at its own pace, 90 ms · 4/(3 + 0.5); n β at the server for each of 4 workers.
  server.consistency = Consistency::asynchronous;
  check(scenario_of(cluster, server), 0.090 * 4 / 3.5, 10e-6, 0.320, 0.088, 0.320, "asynchronous");
  // Stale-synchronous: nobody is more than a few steps ahead of the slow worker's 90/0.5 ms. Slower still, it decides:
  // 90/0.25 ms.
  server.consistency = Consistency::stale_synchronous;
  check(scenario_of(cluster, server), 0.180, 10e-6, 0.320, 0.088, 0.320, "stale-synchronous");
  // Updates of three of them: 3·1e8·0.8 ns; 3·1e8·0.1 ns to add, 3·2e8·0.05 ns to copy, one update. Nobody waits for
  // the slow one. A second slow one decides. By chance, four workers share the three passes of an update.
  server.consistency = Consistency::backup_workers;
  check(scenario_of(cluster, server), 0.090, 10e-6, 0.240, 0.062, 0.240, "a backup worker");
  cluster.groups = {{2, 0.25, {}, {}}};
  check(scenario_of(cluster, server), 0.360, 10e-6, 0.240, 0.062, 0.360, "two slow workers, one backup worker");
  cluster.jitter = {JitterDistribution::gamma, 0.5};
  check(scenario_of(cluster, server), 0.090 * 3 / 2.5, 10e-6, 0.240, 0.062, 0.240, "a backup worker, by chance");
  cluster.jitter = {};
  // Asynchronous pairs: each at its own pace.
  check(scenario_of(cluster, GossipStrategy{.asynchronous = true}), 0.092 * 4 / 2.5, 0, 0, 0, 0.092 * 4 / 2.5, "pairs");
  server.consistency = Consistency::stale_synchronous;
  cluster.groups = {{1, 0.25, {}, {}}};
  check(scenario_of(cluster, server), 0.360, 10e-6, 0.320, 0.088, 0.360, "stale-synchronous, slower");
}

TEST_CASE("bytes that must leave a machine or rack, by hand") {
  // 32 workers, 100 Gb/s (12.5 GB/s), inner links of 120 GB/s; n = 100 MB.
  Cluster cluster = star_cluster(32, 100_Gbps);
  const Workload w = simple_workload(0_s, 0_s, 0_s, 100_MB);
  const auto check = [&](const Strategy& strategy, double bandwidth, const std::string& what) {
    const Scenario scenario = scenario_of(cluster, strategy);
    require_close(bandwidth, lower_bound(scenario, w, build_step_graph(scenario, w)).bandwidth.si(), 1e-12, what);
  };
  const auto benchmark = [](Operation operation) { return CollectiveBenchmark{operation, 100_MB, {}}; };
  // 4 machines of 8 with a NIC each: 2·3·100 MB over 4·12.5 GB/s = 12 ms; half of it to gather or scatter.
  cluster.topology = Nodes{8, {BytesPerSecond(120e9), 3_us}, 1};
  check(AllReduceStrategy{}, 12e-3, "all-reduce");
  check(benchmark(Operation::all_gather), 6e-3, "all-gather");
  check(benchmark(Operation::reduce_scatter), 6e-3, "reduce-scatter");
  // Sharded over all: gathered and scattered. Inside machines, neither leaves them. 8 all-reduces of 12.5 MB between 4
  // machines take 8·2·3·12.5 MB over 4·12.5 GB/s.
  //
  // In groups of two machines, 2 all-gathers move 100 MB between the two over 4 NICs, 4 ms. As much is scattered. 16
  // all-reduces of 6.25 MB between two machines take 4 ms more: 16·2·6.25 MB over 50 GB/s. In halves of machines, there
  // are 4 all-reduces of 25 MB between 4 machines.
  check(ShardedStrategy{}, 12e-3, "sharded");
  check(ShardedStrategy{.group_size = 8}, 12e-3, "sharded inside machines");
  check(ShardedStrategy{.group_size = 16}, 12e-3, "sharded inside pairs of machines");
  check(ShardedStrategy{.group_size = 4}, 12e-3, "sharded inside halves of machines");
  // 100 MB into a machine; 8·24 of 32·32 parts of 32·100 MB out of one: 8·24/32·100 MB / 12.5 GB/s.
  check(benchmark(Operation::broadcast), 8e-3, "broadcast");
  check(benchmark(Operation::all_to_all), 48e-3, "all-to-all");
  // Two neighbours are on other machines: 2·100 MB / 12.5 GB/s.
  check(GossipStrategy{true}, 16e-3, "gossip");
  // One co-located server: 24 workers push 100 MB each into its machine: 192 ms. 32 of them: 8·100 MB·24/32 out of
  // each: 48 ms.
  ParameterServerStrategy server;
  server.placement = ServerPlacement::co_located;
  server.shards = 1;
  check(server, 192e-3, "one co-located server");
  // 4, one in each machine: 24 workers push 25 MB each into it, and 8 of 75 MB out of it: 48 ms.
  server.shards = 4;
  check(server, 48e-3, "a server in every machine");
  // 6, two in machines 0 and 1: 24·33.3 MB into these; 64 ms.
  server.shards = 6;
  check(server, 64e-3, "two servers in some machines");
  server.shards = 32;
  check(server, 48e-3, "a server on every host");
  // 64 dedicated ones have 1/2 of 100 MB into each: 4 ms; 8·100 MB leave each machine: 64 ms.
  server.placement = ServerPlacement::dedicated;
  server.shards = 64;
  check(server, 64e-3, "many dedicated servers");
  // 4 NICs each: 3 ms, still more than the inner links' 2·31/32·100 MB / 120 GB/s = 1.6 ms.
  cluster.topology = Nodes{8, {BytesPerSecond(120e9), 3_us}, 4};
  check(AllReduceStrategy{}, 3e-3, "4 NICs");
  // The first worker of a machine has NIC 0, the last NIC 7 mod 4: one neighbour each. With 7 NICs they share NIC 0.
  check(GossipStrategy{true}, 8e-3, "gossip by two NICs");
  cluster.topology = Nodes{8, {BytesPerSecond(120e9), 3_us}, 7};
  check(GossipStrategy{true}, 16e-3, "gossip by one of 7 NICs");
  // Racks of 8 have uplinks worth 2 links: 2·3·100 MB over 4·25 GB/s = 6 ms. Into a host, it is 2·31/32·100 MB / 12.5
  // GB/s.
  cluster.topology = Racks{8, 4.0, 0_us};
  check(AllReduceStrategy{}, 15.5e-3, "racks");
  cluster.topology = Racks{8, 16.0, 0_us};
  check(AllReduceStrategy{}, 24e-3, "uplinks of half a link's worth");
  // 12 workers; 4 of them and 4 dedicated servers are in the second rack. The other 8 push 100 MB each over half a
  // link: 128 ms.
  cluster.workers = 12;
  server.shards = 4;
  check(server, 128e-3, "servers in a rack with workers");
  // The last machine has one worker and so one of its NICs. There, 100 MB must come in, which takes 8 ms. Over all (4·4
  // + 1)·12.5 GB/s, 2·4·100 MB take 3.8 ms.
  cluster.workers = 33;
  cluster.topology = Nodes{8, {BytesPerSecond(120e9), 3_us}, 4};
  check(AllReduceStrategy{}, 8e-3, "a machine of one");
}

TEST_CASE("a slow link, by hand") {
  // 3 of 4 workers at 10 Gb/s, one at 1 Gb/s: 8 ns/B; n = 100 MB.
  Cluster cluster = star_cluster(4, 10_Gbps);
  const auto slow_at = [&](BytesPerSecond bandwidth) { cluster.groups = {{1, 1.0, bandwidth, {}}}; };
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const auto check = [&](const Strategy& strategy, double bandwidth, const std::string& what) {
    const Scenario scenario = scenario_of(cluster, strategy);
    const Bound bound = lower_bound(scenario, w, build_step_graph(scenario, w));
    require_close(bandwidth, bound.bandwidth.si(), 1e-12, what);
    CHECK(step_time(scenario, w) >= bound.step.si());
  };
  const auto benchmark = [](Operation operation) { return CollectiveBenchmark{operation, 100_MB, {}}; };
  slow_at(1_Gbps);
  check(AllReduceStrategy{}, 0.8, "n into the slow worker");
  check(benchmark(Operation::all_gather), 0.6, "3/4 n into it");
  check(benchmark(Operation::reduce_scatter), 0.6, "3/4 n out of it");
  check(benchmark(Operation::broadcast), 0.8, "n into it");
  check(benchmark(Operation::all_to_all), 0.6, "3/4 n out of it");
  check(GossipStrategy{true}, 1.6, "2n");
  ParameterServerStrategy server;
  check(server, 0.8, "n to a dedicated server, which takes 4n in 320 ms");
  server.placement = ServerPlacement::co_located;
  server.shards = 4;
  check(server, 0.6, "3/4 n to the others' shards, and from them");
  // Not much slower, it is the least of what all must do together: 6n over 3.75 + 1 GB/s.
  slow_at(8_Gbps);
  check(AllReduceStrategy{}, 0.6 / 4.75, "2(p-1)·n over all links");
  slow_at(5_Gbps);
  check(AllReduceStrategy{}, 0.16, "n over 0.625 GB/s, 6n over 4.375 GB/s");
  // In racks of two the slow link is the bottleneck as well.
  cluster.topology = Racks{2, 1.0, 0_us};
  check(AllReduceStrategy{}, 0.16, "racks");
}

TEST_CASE("latency: the way to the farthest worker, if messages at the best latency take less") {
  // 8 machines of 4 with 1 us inside and a NIC of 40 ms. lg 32 = 5 messages, or one out of a machine: 40.001 ms.
  Cluster cluster = star_cluster(32, 10_Gbps, 40_ms);
  cluster.topology = Nodes{4, {100_GBps, 1_us}, 1};
  const Workload w = simple_workload(1_ms, 1_ms, 0_s, 1_MB);
  const auto latency = [&](const Strategy& strategy) {
    const Scenario scenario = scenario_of(cluster, strategy);
    return lower_bound(scenario, w, build_step_graph(scenario, w)).latency.si();
  };
  ParameterServerStrategy dedicated, co_located;
  co_located.placement = ServerPlacement::co_located;
  require_close(0.040001, latency(AllReduceStrategy{}), 1e-12, "all-reduce");
  require_close(0.080002, latency(ShardedStrategy{}), 1e-12, "reduce-scatter and all-gather");
  require_close(0.040001, latency(GossipStrategy{}), 1e-12, "neighbours in two machines");
  require_close(2 * 0.0400005, latency(dedicated), 1e-12, "a server's host has no inner link");
  require_close(0.080002, latency(co_located), 1e-12, "a server in one of the machines");
  // Five messages inside one machine of 32.
  cluster.topology = Nodes{32, {100_GBps, 1_us}, 1};
  require_close(5e-6, latency(AllReduceStrategy{}), 1e-12, "one machine");
  // On a star one slow link of 1 s adds half of it to every way from its worker: 500 + 2.5 us.
  cluster = star_cluster(32, 10_Gbps, 5_us);
  cluster.groups = {{1, 1.0, {}, 1_s}};
  require_close(0.5 + 2.5e-6, latency(AllReduceStrategy{}), 1e-12, "a slow link");
}

TEST_CASE("nothing leaves a machine that holds all workers, or all the bytes of unequal servers") {
  // 8 workers in one machine, in two groups of 4. 3/4·100 MB are gathered, and as much scattered. A quarter of that is
  // all-reduced among two. Inner links of 120 GB/s carry 175 MB.
  Cluster cluster = star_cluster(8, 100_Gbps);
  cluster.topology = Nodes{8, {BytesPerSecond(120e9), 3_us}, 1};
  const Workload w = simple_workload(0_s, 0_s, 0_s, 100_MB);
  const auto bound = [&](const Strategy& strategy) {
    const Scenario scenario = scenario_of(cluster, strategy);
    const Bound found = lower_bound(scenario, w, build_step_graph(scenario, w));
    CHECK(step_time(scenario, w) >= found.step.si());
    return found.bandwidth.si();
  };
  require_close(175e6 / 120e9, bound(ShardedStrategy{.group_size = 4}), 1e-12, "groups inside one machine");
  // A ninth worker is in another machine, with the second server, which holds nothing of the one tensor. From that
  // machine, 100 MB leave and come back, in 16 ms. With two equal servers, 8·50 MB would go into it and back. Half of
  // the inner links' bytes are pushes to others, and a half is pulled 8 times: 450 MB on the mean server's host.
  cluster.workers = 9;
  require_close(450e6 / 120e9,
                bound(ParameterServerStrategy{
                    .shards = 2, .placement = ServerPlacement::co_located, .balance = ShardBalance::greedy}),
                1e-12, "unequal servers");
}

TEST_CASE("repeated encoding in each round of a ring bounds a step") {
  // A device that moves bytes for nothing and computes at 1 GFLOPS; 1,000,000 elements among 4. Each of 3 rounds
  // decodes and adds 250,000 of 8-bit in 3 operations each, finds the largest in 2 and quantizes in 10.
  Scenario scenario =
      scenario_of(star_cluster(4, 10_Gbps),
                  AllReduceStrategy{.collective = ring_choice(), .carrier = Carrier::in_collective}, EightBit{});
  DeviceProfile device;
  device.peaks = {{Dtype::fp32, FlopsPerSecond(1e9), Evidence::assumed, "test"}};
  device.memory_bandwidth.value = BytesPerSecond(1e25);
  scenario.codec.device = device;
  const Workload w = simple_workload(0_s, 0_s, 0_s, 4_MB);
  const Bound bound = lower_bound(scenario, w, build_step_graph(scenario, w));
  require_close(3 * 15 * 250000 / 1e9, bound.reduction.si(), 1e-9, "reduction");
  CHECK(step_time(scenario, w) >= bound.step.si());
}

TEST_CASE("the best links of fabrics, by hand") {
  // 16 workers, 10 Gb/s (0.8 ns/B), 6 us, n = 100 MB; lg 16 = 4 messages, of an all-to-all one.
  Cluster cluster = star_cluster(16, 10_Gbps, 6_us);
  const auto check = [&](Operation operation, double latency, double bandwidth, const std::string& what) {
    const Scenario scenario = scenario_of(cluster, CollectiveBenchmark{operation, 100_MB, {}});
    const Bound bound = lower_bound(scenario, {}, build_step_graph(scenario, {}));
    require_close(latency, bound.latency.si(), 1e-12, what + ": latency");
    require_close(bandwidth, bound.bandwidth.si(), 1e-12, what + ": bandwidth");
    CHECK(step_time(scenario, {}) >= bound.step.si());
  };
  check(Operation::all_to_all, 6e-6, 0.075, "star, all-to-all: 15/16·n");
  check(Operation::broadcast, 24e-6, 0.080, "star, broadcast: n");
  // To a neighbour in a torus it is one cable, half of 6 us, and there are four of them: 0.2 ns/B.
  cluster.topology = Torus{{4, 4}};
  check(Operation::all_reduce, 12e-6, 0.0375, "torus, all-reduce: 15/8·n");
  check(Operation::all_gather, 12e-6, 0.01875, "torus, all-gather: 15/16·n");
  check(Operation::broadcast, 12e-6, 0.020, "torus, broadcast: n");
  check(Operation::all_to_all, 3e-6, 0.01875, "torus, all-to-all: 15/16·n");
  // From a host two cables lead to each of three switches.
  cluster.topology = FatTree{{4, 4}, {3, 2}, {2, 1}};
  check(Operation::broadcast, 24e-6, 0.080 / 6, "fat tree, broadcast: n");
  // SimGrid's factor on latencies counts where it makes them shorter: 13.01 would be no bound without TCP's effects.
  cluster.topology = Star{};
  cluster.transport = TcpTransport{};
  check(Operation::broadcast, 24e-6, 0.080, "TCP, 13.01 times the latency");
  cluster.transport = TcpTransport{.latency_factor = 0.5};
  check(Operation::all_to_all, 3e-6, 0.075, "TCP, half the latency");
}

TEST_CASE("a shard's work bounds a step with any compressor") {
  // 8 workers push 4 MB as 2 MB of fp16; a shard adds 16 MB at 1 ns/B besides casting.
  Cluster cluster = star_cluster(8, BytesPerSecond(1e11));
  cluster.reduction_cost = 1_ns_per_B;
  Scenario scenario = scenario_of(cluster, ParameterServerStrategy{}, Fp16{});
  scenario.codec.device = load_profile("v100-datasheet", "", default_library());
  const Workload w = simple_workload(1_ms, 1_ms, 0_s, 4_MB);
  const Bound bound = lower_bound(scenario, w, build_step_graph(scenario, w));
  CHECK(bound.reduction >= 16_ms);
  CHECK(bound.reduction < 17_ms);
  CHECK(bound.step <= forecast(scenario, w).step);
}

TEST_CASE("the equations never undercut the bound") {
  property(
      "any cluster, workload and synchronous strategy",
      [] {
        const Cluster cluster = random_cluster();
        const Workload w = random_workload();
        Compressor compressor = NoCompressor{};
        Strategy strategy = random_strategy(cluster.workers);
        if (!std::holds_alternative<GossipStrategy>(strategy) && !std::holds_alternative<ShardedStrategy>(strategy) &&
            coin())
          compressor = RatioCompressor{real_between(1, 8), SecondsPerByte(positive_between(1e-12, 1e-9)), {}};
        const Scenario scenario = scenario_of(cluster, strategy, compressor);
        const Workload& trained = std::holds_alternative<CollectiveBenchmark>(strategy) ? Workload{} : w;
        const double bound = lower_bound(scenario, trained, build_step_graph(scenario, trained)).step.si(),
                     step = step_time(scenario, trained);
        if (step < bound * (1 - 1e-9))
          RC_FAIL(fmt::format("step {} below bound {} of {}", step, bound, to_json(scenario).dump()));
        RC_ASSERT(bound >= 0.0);
      },
      3000);
}

TEST_CASE("the bound is met") {
  // A ring without latency or computation sends no byte too many.
  property("by a ring all-reduce of bandwidth alone", [] {
    Cluster cluster = star_cluster(integer_between(2, 64), BytesPerSecond(positive_between(1e8, 1e11)));
    if (coin()) cluster.stack.host_cost = SecondsPerByte(positive_between(1e-12, 1e-9));
    const Scenario scenario = scenario_of(cluster, AllReduceStrategy{ring_choice(), {}});
    const Workload w = simple_workload(0_s, 0_s, 0_s, Bytes(positive_between(1, 1e9)));
    assert_close(lower_bound(scenario, w, build_step_graph(scenario, w)).step.si(), step_time(scenario, w), 1e-9,
                 "step");
  });
  // Nor do rings inside sharding groups and between them; on machines it is their NICs that are busy all the time.
  property("by rings in sharding groups, of bandwidth alone", [] {
    const int g = integer_between(2, 8), nics = g % 2 == 0 && coin() ? g / 2 : g;
    Cluster cluster = star_cluster(g * integer_between(1, 6), BytesPerSecond(positive_between(1e8, 1e11)));
    const bool on_machines = coin() && cluster.workers > g;
    if (on_machines) cluster.topology = Nodes{g, {BytesPerSecond(1e18), 0_s}, nics};
    const Scenario scenario = scenario_of(
        cluster,
        ShardedStrategy{.collective = ring_choice(), .exchange = {}, .group_size = g, .all_reduce = ring_choice()});
    const Workload w = simple_workload(0_s, 0_s, 0_s, Bytes(positive_between(1, 1e9)));
    assert_close(lower_bound(scenario, w, build_step_graph(scenario, w)).step.si(), step_time(scenario, w),
                 on_machines ? 1e-5 : 1e-9, "step");
  });
  // A pipelined step is no longer than its computation where that outlasts the exchange.
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 1_MB);
  PipelinedStrategy pipelined;
  const Scenario scenario = scenario_of(star_cluster(4, 10_Gbps, 5_us), pipelined);
  require_close(lower_bound(scenario, w, build_step_graph(scenario, w)).step.si(), step_time(scenario, w), 1e-12,
                "pipelined");
}
