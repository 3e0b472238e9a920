// Gradient accumulation: a step of m passes of forward f and backward b, whose gradients are exchanged once, beside the
// last backward. In a synchronous step everything waits for the passes before the last one, so they add (m-1)(f + b) to
// it.
#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Workload accumulating(Workload workload, int passes) {
  workload.accumulation = passes;
  return workload;
}

Cluster random_star() {
  Cluster cluster = star_cluster(integer_between(1, 9), BytesPerSecond(positive_between(1e8, 1e10)),
                                 Seconds(positive_between(1e-6, 1e-3)));
  if (coin()) cluster.reduction_cost = SecondsPerByte(positive_between(1e-11, 1e-9));
  if (coin()) cluster.collective_cost = Seconds(positive_between(1e-6, 1e-3));
  if (coin()) cluster.stack.backward_slowdown = real_between(1, 1.5);
  return cluster;
}

Exchange random_exchange() {
  Exchange exchange;
  exchange.grouping = static_cast<Grouping>(integer_between(0, 2));
  exchange.overlap = coin();
  return exchange;
}

ParameterServerStrategy random_servers(int p) {
  ParameterServerStrategy server;
  server.placement = coin() ? ServerPlacement::dedicated : ServerPlacement::co_located;
  server.shards = integer_between(1, server.placement == ServerPlacement::co_located ? p : 4);
  server.two_way = coin();
  server.exchange = random_exchange();
  return server;
}

Compressor random_compressor() {
  if (coin()) return NoCompressor{};
  return RatioCompressor{real_between(1, 10), SecondsPerByte(positive_between(1e-12, 1e-9)),
                         SecondsPerByte(positive_between(1e-12, 1e-9))};
}

}  // namespace

TEST_CASE("a step of several passes, by hand") {
  // f = 30, b = 60, u = 2 ms. A ring of 100 MB among 4 at 10 Gb/s takes 120 ms. 4 passes take 4·90 + 120 + 2 ms.
  const Workload w = accumulating(simple_workload(30_ms, 60_ms, 2_ms, 100_MB), 4);
  CHECK(w.samples() == 4);
  require_close(0.362, w.compute().si(), 1e-12, "4·(30 + 60) + 2 ms");
  const Cluster cluster = star_cluster(4, 10_Gbps);
  const StepForecast f = forecast(scenario_of(cluster, AllReduceStrategy{ring_choice(), {}}), w);
  require_close(0.482, f.step.si(), 1e-12, "all-reduce");
  require_close(0.482, f.first_step.si(), 1e-12, "first step");
  require_close(0.120, f.breakdown.forward.si(), 1e-12, "4 forward passes");
  require_close(0.240, f.breakdown.backward.si(), 1e-12, "4 backward passes");
  require_close(0.002, f.breakdown.update.si(), 1e-12, "1 update");
  require_close(0.120, f.breakdown.exposed_communication.si(), 1e-12, "1 exchange");
  // Pipe-SGD of width 2: max(A, B) with A = 362 ms. Gossip beside the passes: 2·100 MB·0.8 ns/B = 160 ms are hidden;
  // after them not.
  PipelinedStrategy pipelined;
  pipelined.collective = ring_choice();
  require_close(0.362, step_time(scenario_of(cluster, pipelined), w), 1e-12, "pipelined");
  require_close(0.362, step_time(scenario_of(cluster, GossipStrategy{true}), w), 1e-12, "gossip");
  require_close(0.522, step_time(scenario_of(cluster, GossipStrategy{false}), w), 1e-12, "gossip, not overlapped");
  // One server: 4·100 MB·0.8 ns/B = 320 ms each way; it updates.
  require_close(1.002, step_time(scenario_of(cluster, ParameterServerStrategy{}), w), 1e-12, "360 + 320 + 2 + 320 ms");
  // On a link where B = 480 ms the pipeline is bound by it, however short the passes.
  require_close(0.480, step_time(scenario_of(star_cluster(4, BytesPerSecond(312.5e6)), pipelined), w), 1e-12,
                "pipelined, slow link");
}

TEST_CASE("the exchange overlaps with the last backward pass only, which alone it slows") {
  // Two gradients of 50 MB after 30 ms of backward each. A ring among 2 at 1 GB/s takes 50 ms for either. γ_o = 1.2, u
  // = 2 ms. 3 passes take 2·(30 + 60), 30, then 36 ms until the first is ready. It travels until 86; the second, ready
  // at 72, travels until 136.
  const Workload w = accumulating(workload_of(30_ms, {{50e6, 0.03}, {50e6, 0.03}}, 0_s, 2_ms), 3);
  Exchange exchange;
  exchange.grouping = Grouping::per_tensor;
  Cluster cluster = star_cluster(2, BytesPerSecond(1e9));
  cluster.stack.backward_slowdown = 1.2;
  const StepForecast f = forecast(scenario_of(cluster, AllReduceStrategy{ring_choice(), exchange}), w);
  require_close(0.348, f.step.si(), 1e-12, "180 + 30 + 136 + 2 ms");
  require_close(0.180, f.breakdown.backward.si(), 1e-12, "3·60 ms");
  require_close(0.012, f.breakdown.stack.si(), 1e-12, "the last pass takes 72 ms, not 60");
}

TEST_CASE("a compressor encodes and decodes once a step") {
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const Scenario scenario = scenario_of(star_cluster(4, 10_Gbps), AllReduceStrategy{ring_choice(), {}},
                                        RatioCompressor{4.0, 0.1_ns_per_B, 0.2_ns_per_B});
  const StepForecast f = forecast(scenario, accumulating(w, 8));
  require_close(0.010, f.breakdown.encode.si(), 1e-12, "100 MB·0.1 ns/B");
  require_close(0.020, f.breakdown.decode.si(), 1e-12, "100 MB·0.2 ns/B");
  // 8·90 + 10 + 120/4 + 20 + 2 ms
  require_close(0.782, f.step.si(), 1e-12, "step");
  CHECK(build_step_graph(scenario, accumulating(w, 8)).payload == 25_MB);
}

TEST_CASE("m passes add (m-1)(f + b) to a synchronous step") {
  property(
      "all-reduce and servers of any exchange",
      [] {
        const Cluster cluster = random_star();
        const Workload w = random_workload();
        const Strategy strategy =
            coin() ? Strategy(AllReduceStrategy{{}, random_exchange()}) : Strategy(random_servers(cluster.workers));
        const Scenario scenario = scenario_of(cluster, strategy, random_compressor());
        const int m = integer_between(1, 64);
        const double more = (m - 1) * (w.forward + w.backward).si();
        const StepForecast once = forecast(scenario, w), f = forecast(scenario, accumulating(w, m));
        assert_close(once.step.si() + more, f.step.si(), 1e-9, fmt::format("m={}: step", m));
        assert_close(once.first_step.si() + more, f.first_step.si(), 1e-9, "first step");
        assert_close(f.step.si(), f.breakdown.total().si(), 1e-9, "parts");
      },
      1000);
}

TEST_CASE("more passes in a step take less time for each sample, down to computing alone") {
  property(
      "any strategy",
      [] {
        const Cluster cluster = random_star();
        const Workload w = random_workload();
        PipelinedStrategy pipelined;
        pipelined.width = integer_between(1, 4);
        pipelined.segments = integer_between(1, 4);
        const Strategy strategies[] = {
            AllReduceStrategy{{}, random_exchange()}, random_servers(cluster.workers), pipelined,
            GossipStrategy{coin()},
            LocalSgdStrategy{.steps = integer_between(1, 20), .outer_update_factor = real_between(0, 2)}};
        const Scenario scenario = scenario_of(cluster, strategies[integer_between(0, 4)]);
        const double compute = (w.forward + w.backward).si(), once = step_time(scenario, w);
        double before = once;
        for (const int m : {2, 3, 7, 8, 1000, 65536}) {
          const double each = step_time(scenario, accumulating(w, m)) / m;
          if (each > before * (1 + 1e-9)) RC_FAIL(fmt::format("m={}: {} s a pass after {}", m, each, before));
          RC_ASSERT(each >= compute * (1 - 1e-9));
          before = each;
        }
        // Everything else of a step, at most all of a step of one pass, is shared by 65,536 passes.
        RC_ASSERT(before <= compute + once / 65536 + 1e-9 * compute);
      },
      500);
}

TEST_CASE("passes that exchange nothing are two tasks, however many") {
  const Scenario scenario = scenario_of(star_cluster(4, 10_Gbps), AllReduceStrategy{});
  const StepGraph graph = build_step_graph(scenario, accumulating(simple_workload(30_ms, 60_ms, 2_ms, 100_MB), 5));
  REQUIRE(graph.tasks.size() == 6);
  CHECK(graph.tasks[0].name.text() == "forward of 4 passes");
  CHECK(graph.tasks[1].name.text() == "backward of 4 passes");
  CHECK(graph.tasks[2].name.text() == "forward");
  CHECK(graph.micro_batches == 5);
  // Jitter is drawn for each micro-batch: 0 to 3, then 4, to which all belongs that is done once.
  CHECK(graph.tasks[1].micro_batch == 3);
  CHECK(graph.tasks[1].micro_batches == 4);
  CHECK(graph.tasks[2].micro_batch == 4);
  CHECK(graph.tasks[5].micro_batch == 4);
  CHECK(graph.tasks[5].micro_batches == 1);
}
