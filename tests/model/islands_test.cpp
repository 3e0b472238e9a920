// Islands of g workers: a step I of synchronous SGD inside each, H times. Then shares of n/g are averaged between islands
// in A, and gathered inside in G. A step takes I + (A + G + o·u/g)/H.
#include <fmt/format.h>

#include "models/equation/lower_bound.hpp"
#include "models/price/cluster_prices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/test_compressors.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

LocalSgdStrategy every(int steps, Islands islands, double outer = 0) {
  return {.steps = steps, .collective = ring_choice(), .outer_update_factor = outer, .islands = islands};
}

/// 4 machines of 8 V100s or so: 100 GB/s inside, 10 GB/s out of each GPU's NIC.
Cluster machines_of_8(int machines) {
  Cluster cluster = star_cluster(8 * machines, BytesPerSecond(10e9));
  cluster.topology = Nodes{8, {BytesPerSecond(100e9), {}}, 8};
  return cluster;
}

}  // namespace

TEST_CASE("islands by hand") {
  // 30 + 60 + 2 ms. At 0.8 ns/B, 4 workers in islands of 2: an all-reduce of 100 MB among 2 takes 80 ms, its halves 40 ms.
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const auto step = [&](const LocalSgdStrategy& strategy, const Compressor& compressor = NoCompressor{}) {
    return step_time(scenario_of(star_cluster(4, 10_Gbps), strategy, compressor), w);
  };
  Islands islands{.size = 2, .collective = ring_choice()};
  require_close(0.188, step(every(5, islands)), 1e-12, "172 + (40 to average 50 MB + 40 to gather 100 MB)/5 ms");
  require_close(0.1883, step(every(5, islands, 1.5)), 1e-12, "+ 1.5·2/2/5 ms: each updates its share");
  // The update is of half the parameters. The next step gathers what is averaged, except with stage optimizer-state.
  islands.sharding = ShardingStage::parameters;
  require_close(0.179, step(every(5, islands)), 1e-12, "40 + 30 + 60 + 40 + 1 + 40/5 ms");
  require_close(0.1793, step(every(5, islands, 1.5)), 1e-12, "+ 1.5·1/5 ms");
  islands.sharding = ShardingStage::gradients;
  require_close(0.179, step(every(5, islands)), 1e-12, "the same: one unit");
  islands.sharding = ShardingStage::optimizer_state;
  require_close(0.187, step(every(5, islands)), 1e-12, "171 + (40 + 40)/5 ms");
  // A codec works on the share: 0.75 ns/B of 50 MB, and sends a fourth of it.
  const RatioCompressor codec{4.0, 0.5_ns_per_B, 0.25_ns_per_B};
  require_close(0.1895, step(every(5, {.size = 2, .collective = ring_choice()}), codec), 1e-12,
                "172 + (37.5 + 10 + 40)/5 ms");
}

TEST_CASE("hierarchical local SGD, by hand") {
  // As above, 92 ms a step. Two workers of an island average 100 MB every second step in 80 ms. After four steps, two islands
  // average shares of 50 MB in 40 ms and gather in 40.
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  Islands islands{.size = 2, .steps = 2, .collective = ring_choice()};
  const Cluster cluster = star_cluster(4, 10_Gbps);
  require_close(0.152, step_time(scenario_of(cluster, every(4, islands)), w), 1e-12, "92 + 80/2 + 80/4 ms");
  const Scenario scenario = scenario_of(cluster, every(4, islands));
  const Bound bound = lower_bound(scenario, w, build_step_graph(scenario, w));
  require_close(0.060, bound.bandwidth.si(), 1e-12, "80/2 + 40/4 + 40/4 ms");
  // Gossip of these islands: each has one neighbour, to which it sends shares of 50 MB in 40 ms after each fourth step.
  GossipStrategy gossip{.overlap = false, .steps = 4};
  gossip.islands = islands;
  require_close(0.152, step_time(scenario_of(cluster, gossip), w), 1e-12, "the same with neighbours");
}

TEST_CASE("messages of islands overlap with back-propagation, bucket by bucket") {
  // Among 2 at 1 GB/s, 40 MB take 40 ms and 60 MB 60. Backward takes 20 + 40 ms: the first bucket is sent from 50 to 90,
  // the second from 90 to 150 ms. The update ends at 152 ms. A share of 50 MB: 50 ms between islands, 50 inside.
  const Workload w = workload_of(30_ms, {{40e6, 0.02}, {60e6, 0.04}}, 0_s, 2_ms);
  LocalSgdStrategy strategy = every(5, {.size = 2, .grouping = Grouping::per_tensor, .collective = ring_choice()});
  const Cluster cluster = star_cluster(4, BytesPerSecond(1e9));
  require_close(0.172, step_time(scenario_of(cluster, strategy), w), 1e-12, "152 + (50 + 50)/5 ms");
  strategy.islands->overlap = false;
  require_close(0.212, step_time(scenario_of(cluster, strategy), w), 1e-12, "92 + 100 + 100/5 ms");
}

TEST_CASE("averages travel beside the steps of islands") {
  // The average of 50 MB and its gathering, 80 ms, go beside a step of 172 ms, as far as equations can tell.
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  LocalSgdStrategy strategy = every(5, {.size = 2, .collective = ring_choice()});
  strategy.averaging_steps = 1;
  const Scenario scenario = scenario_of(star_cluster(4, 10_Gbps), strategy);
  require_close(0.172, step_time(scenario, w), 1e-12, "172 ms");
  // The bound sums what streams do one by one: 80 ms a step inside islands is more than 80/5 for averages.
  const Bound bound = lower_bound(scenario, w, build_step_graph(scenario, w));
  require_close(0.092, bound.compute.si(), 1e-12, "bound: compute");
  require_close(0.080, bound.bandwidth.si(), 1e-12, "bound: bandwidth");
}

TEST_CASE("an outer update in flight comes before its gathering, which workers wait for") {
  // Islands of 2 at 0.8 ns/B, step 172 ms: the average takes 40 ms of one step. The update of 1.5 ms and the gathering of
  // 40 ms follow that step. Without an update the gathering is hidden, too.
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  LocalSgdStrategy strategy = every(5, {.size = 2, .collective = ring_choice()}, 1.5);
  strategy.averaging_steps = 1;
  require_close(0.1803, step_time(scenario_of(star_cluster(4, 10_Gbps), strategy), w), 1e-12, "172 + (1.5 + 40)/5 ms");
  strategy.islands->sharding = ShardingStage::parameters;
  require_close(0.1713, step_time(scenario_of(star_cluster(4, 10_Gbps), strategy), w), 1e-12, "171 + 1.5/5 ms");
}

TEST_CASE("islands step as workers of a smaller cluster do: I + (A + G + o·u/g)/H") {
  property(
      "any star, and strategy inside",
      [] {
        Cluster island = random_star();
        island.workers = integer_between(2, 6);
        Cluster islands = island, all = island;
        islands.workers = integer_between(2, 5);
        all.workers = island.workers * islands.workers;
        const Workload w = random_workload();
        Islands inside{.size = island.workers,
                       .grouping = static_cast<Grouping>(integer_between(0, 2)),
                       .bucket_cap = Bytes(positive_between(1e5, 1e7)),
                       .overlap = coin(),
                       .collective = ring_choice()};
        if (coin()) inside.sharding = static_cast<ShardingStage>(integer_between(0, 2));
        const bool gathers = inside.sharding.value_or(ShardingStage::optimizer_state) == ShardingStage::optimizer_state;
        const int g = island.workers, H = integer_between(1, 20);
        const double outer = coin() ? real_between(0, 3) : 0, n = w.gradient_bytes.si();
        Strategy alone = AllReduceStrategy{.collective = ring_choice(), .exchange = inside.exchange()};
        if (inside.sharding) {
          ShardedStrategy sharded;
          sharded.stage = *inside.sharding;
          sharded.collective = ring_choice();
          sharded.exchange = inside.exchange();
          alone = sharded;
        }
        const double I = step_time(scenario_of(island, alone), w), A = ring_all_reduce(islands, n / g),
                     G = gathers ? step_time(scenario_of(island, CollectiveBenchmark{Operation::all_gather, Bytes(n),
                                                                                     ring_choice()}),
                                             Workload{})
                                 : 0,
                     update = outer * w.update.si() / g;
        const Scenario scenario = scenario_of(all, every(H, inside, outer));
        const StepForecast f = forecast(scenario, w);
        assert_close(I + (A + G + update) / H, f.step.si(), 1e-9,
                     fmt::format("{} islands of {}, H={}", islands.workers, g, H));
        assert_close(f.step.si(), f.breakdown.total().si(), 1e-9, "parts");
        RC_ASSERT(lower_bound(scenario, w, build_step_graph(scenario, w)).step <= f.step * (1 + 1e-9));
      },
      1000);
}

TEST_CASE("islands in machines average over NICs alone") {
  // 800 MB, islands of 8 in 4 machines. Inside: ring of 8, 2·7/8·800 MB at 100 GB/s are 14 ms. A share of 100 MB between
  // 4: 2·3/4·100 MB at 10 GB/s are 15 ms. A gathering of 800 MB among 8: 7 ms.
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 800_MB);
  const Islands islands{.size = 8, .collective = ring_choice()};
  require_close(0.10875, step_time(scenario_of(machines_of_8(4), every(8, islands)), w), 1e-12,
                "92 + 14 + (15 + 7)/8 ms");
}

TEST_CASE("islands compress shares as machines with codec scope machines do") {
  // A machine's sum inside is the islands' own exchange; from then on both send and encode the same.
  Workload w = workload_of(5_ms, {{4e6, 0.02}}, 0_s, 1_ms);
  w.gradients[0].dims = {1000, 1000};
  for (const Compressor& compressor : all_compressors()) {
    INFO(kind_of(compressor));
    if (std::holds_alternative<NoCompressor>(compressor)) continue;
    Scenario islands = scenario_of(machines_of_8(4), every(1, {.size = 8, .collective = ring_choice()}), compressor),
             machines = islands;
    std::get<LocalSgdStrategy>(machines.strategy).islands.reset();
    machines.codec.scope = CodecScope::machines;
    for (Scenario* scenario : {&islands, &machines})
      scenario->codec.device = device_of(10_us, BytesPerSecond(1e11), FlopsPerSecond(1e13));
    // Islands all-reduce 4 MB at 100 GB/s in each step: 2·7/8·40 us. Machines reduce-scatter them: half of that.
    require_close(step_time(machines, w) + 35e-6, step_time(islands, w), 1e-9, "step");
    const auto payload = [&](const Scenario& scenario) { return build_step_graph(scenario, w).payload; };
    CHECK(payload(islands) == payload(machines) + 4_MB);  // the gradients inside
  }
}
