// Slices: the pace of rounds against a simulation slice by slice, and by hand.
#include <algorithm>
#include <vector>

#include "models/price/cluster_prices.hpp"
#include "models/price/round_pace.hpp"
#include "models/price/shard_copies.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// When the last of `rounds` equal rounds has arrived, all workers alike. Each of `slices` is copied, sent and, α later,
/// there. A worker copies one slice at a time and sends one at a time, in order. It sends a slice of a round on once it
/// has got that slice of the round before.
double sent_in_slices(int rounds, int slices, double latency, double wire, double copies) {
  double copier = 0, link = 0;
  std::vector<double> there(slices);
  for (int r = 0; r < rounds; ++r)
    for (double& slice : there) {
      copier = std::max(copier, slice) + copies / slices;
      link = std::max(link, copier) + wire / slices;
      slice = link + latency;
    }
  return there.back();
}

double time_of(const Cluster& cluster, Operation operation, Algorithm algorithm, Bytes bytes) {
  CollectiveChoice choice;
  choice.algorithm = algorithm;
  const CachedPrices prices(cluster);
  return prices(prices.decide(operation, choice, bytes)).total().si();
}

}  // namespace

TEST_CASE("rounds of slices take what a simulation of each slice takes") {
  property(
      "pace",
      [] {
        const int rounds = integer_between(1, 12), slices = integer_between(1, 20);
        const double latency = coin() ? 0 : positive_between(1e-6, 1e-2), wire = positive_between(1e-5, 1e-2),
                     copies = coin() ? 0 : positive_between(1e-5, 1e-2);
        const RoundPace pace = pace_of(Seconds(latency), Seconds(wire), Seconds(copies), 1.0 / slices);
        const double all = (rounds - 1) * pace.next.si() + pace.last.si();
        require_close(sent_in_slices(rounds, slices, latency, wire, copies), all, 1e-12, "all rounds");
        RC_ASSERT(all >= rounds * latency);  // the chain of delays
      },
      2000);
}

TEST_CASE("a slice is no larger than its message") {
  Stack stack;
  CHECK(slice_share(stack, 1_MB) == 1.0);
  stack.slice = 250_kB;
  CHECK(slice_share(stack, 1_MB) == 0.25);
  CHECK(slice_share(stack, 100_kB) == 1.0);
  CHECK(slice_share(stack, 0_B) == 1.0);
}

TEST_CASE("a ring over long links, by hand") {
  // 64 MB on 4 workers: 6 rounds of 16 MB. At 5 Gb/s one takes 25.6 ms, its delay 1 ms. Whole messages: 6·26.6 ms.
  Cluster cluster = star_cluster(4, 5_Gbps, 1_ms);
  require_close(0.1596, time_of(cluster, Operation::all_reduce, Algorithm::ring, 64_MB), 1e-12, "whole");
  // In slices of 1 MB (1.6 ms), 1 + 1.6 ms stay below 25.6 ms: 5·25.6 + 25.6 + 1 ms.
  cluster.stack.slice = 1_MB;
  require_close(0.1546, time_of(cluster, Operation::all_reduce, Algorithm::ring, 64_MB), 1e-12, "sliced");
  // With a delay of 100 ms it sets the pace: 5·(100 + 1.6) + 100 + 25.6 ms.
  cluster.link.latency = 100_ms;
  require_close(0.6336, time_of(cluster, Operation::all_reduce, Algorithm::ring, 64_MB), 1e-12, "far");
  // A binomial tree of 4 sends 64 MB on in 2 rounds of 102.4 ms: max(102.4, 100 + 1.6) + 102.4 + 100.
  require_close(0.3048, time_of(cluster, Operation::broadcast, Algorithm::binomial_tree, 64_MB), 1e-12, "tree");
}

TEST_CASE("copies of slices overlap the wire") {
  // 40 MB on 2 workers: 2 rounds of 20 MB, 16 ms at 10 Gb/s (0.8 ns/B). Copying at 0.3 ns/B takes 6 ms.
  Cluster cluster = star_cluster(2, 10_Gbps);
  cluster.stack.host_cost = 0.3_ns_per_B;
  require_close(0.044, time_of(cluster, Operation::all_reduce, Algorithm::ring, 40_MB), 1e-12, "2·(16 + 6) ms");
  // In slices of 5 MB (4 and 1.5 ms) the wire is the slower: 16 + 16 ms and, at the ends, 1.5 ms.
  cluster.stack.slice = 5_MB;
  require_close(0.0335, time_of(cluster, Operation::all_reduce, Algorithm::ring, 40_MB), 1e-12, "wire");
  // At 2 ns/B copying is: 40 + 40 + 4 ms.
  cluster.stack.host_cost = 2_ns_per_B;
  require_close(0.084, time_of(cluster, Operation::all_reduce, Algorithm::ring, 40_MB), 1e-12, "copies");
}

TEST_CASE("hosts copy by the class of the link") {
  // A ring of 4 workers on 2 machines: in each of 6 rounds of 10 MB, two messages leave their machine. 100 GB/s inside
  // and 10 GB/s between: 1 ms a round. The workers at the ends copy 10 MB out or in at 0.5 ns/B: 5 ms; inside nobody
  // copies.
  Cluster cluster = star_cluster(4, BytesPerSecond(10e9));
  cluster.topology = Nodes{2, {BytesPerSecond(100e9), {}}, 1};
  cluster.stack.host_cost = 0.5_ns_per_B;
  require_close(0.036, time_of(cluster, Operation::all_reduce, Algorithm::ring, 40_MB), 1e-12, "6·(1 + 5) ms");
  // A worker that sends inside (2 ns/B) gets from outside, side by side: the longer counts.
  cluster.stack.inner_host_cost = 2_ns_per_B;
  require_close(0.126, time_of(cluster, Operation::all_reduce, Algorithm::ring, 40_MB), 1e-12, "6·(1 + 20) ms");
  // In one machine only the inner ones count: 6·(0.1 + 20) ms.
  cluster.topology = Nodes{4, {BytesPerSecond(100e9), {}}, 1};
  require_close(0.1206, time_of(cluster, Operation::all_reduce, Algorithm::ring, 40_MB), 1e-12, "one machine");
}

TEST_CASE("workers and shards copy by the class of the link") {
  // 6 workers on machines of 2, 3 shards of 1, 2 and 4 MB beside the first worker of each. h is 1 ns/B between machines
  // and 0.1 inside. Worker 0 copies 2 + 4 MB between machines, worker 1 also 1 MB inside; worker 4 only 1 + 2 MB.
  Cluster cluster = star_cluster(6, 10_Gbps);
  cluster.topology = Nodes{2, {BytesPerSecond(100e9), {}}, 1};
  cluster.stack.host_cost = 1_ns_per_B;
  cluster.stack.inner_host_cost = 0.1_ns_per_B;
  const std::vector<Bytes> shards = {1_MB, 2_MB, 4_MB};
  require_close(6e-3, worker_copies(cluster, shards, true, 0).si(), 1e-12, "beside the first");
  require_close(6.1e-3, worker_copies(cluster, shards, true, 1).si(), 1e-12, "in its machine");
  require_close(3e-3, worker_copies(cluster, shards, true, 4).si(), 1e-12, "beside the last");
  require_close(7e-3, worker_copies(cluster, shards, false, 4).si(), 1e-12, "dedicated servers are machines");
  require_close(6.1e-3, longest_worker_copies(cluster, shards, true).si(), 1e-12, "worker 1");
  require_close(7e-3, longest_worker_copies(cluster, shards, false).si(), 1e-12, "all");
  require_close(4.1e-9, shard_copies(cluster, 3, true, 0).si(), 1e-12, "one worker inside, four outside");
  require_close(6e-9, shard_copies(cluster, 3, false, 0).si(), 1e-12, "six outside");
}

TEST_CASE("the longest copies are the longest of all workers'") {
  property("longest copies", [] {
    Cluster cluster = star_cluster(integer_between(1, 13), 10_Gbps);
    if (coin()) cluster.topology = Nodes{integer_between(1, 5), {BytesPerSecond(100e9), {}}, 1};
    cluster.stack.host_cost = SecondsPerByte(positive_between(1e-11, 1e-9));
    if (coin()) cluster.stack.inner_host_cost = SecondsPerByte(positive_between(1e-11, 1e-9));
    const bool co_located = coin();
    std::vector<Bytes> shards(integer_between(1, co_located ? cluster.workers : 6));
    for (Bytes& bytes : shards) bytes = Bytes(positive_between(1e3, 1e7));
    Seconds longest{};
    for (int worker = 0; worker < cluster.workers; ++worker)
      longest = std::max(longest, worker_copies(cluster, shards, co_located, worker));
    require_close(longest.si(), longest_worker_copies(cluster, shards, co_located).si(), 1e-12, "longest");
  });
}

TEST_CASE("a collective begins with its operation's cost") {
  Cluster cluster = star_cluster(2, 10_Gbps);
  cluster.stack.operation_cost = 100_us;
  // 10 MB on 2 workers: 2 rounds of 5 MB at 0.8 ns/B, and 0.1 ms.
  require_close(8.1e-3, time_of(cluster, Operation::all_reduce, Algorithm::ring, 10_MB), 1e-12, "two");
  cluster.workers = 1;
  CHECK(time_of(cluster, Operation::all_reduce, Algorithm::ring, 10_MB) == 0.0);
}
