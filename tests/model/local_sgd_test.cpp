// Local SGD: forward f, backward b, update u in each of H steps. Then follow an all-reduce T of the parameters, a codec
// C and an outer update of factor o. A step takes f + b + u + (T + C + o·u)/H.
#include <algorithm>

#include <fmt/format.h>

#include "models/equation/lower_bound.hpp"
#include "models/strategy/coded_exchange.hpp"
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

LocalSgdStrategy every(int steps, double outer = 0) {
  return {.steps = steps, .collective = ring_choice(), .outer_update_factor = outer};
}

}  // namespace

TEST_CASE("local SGD by hand") {
  // 30 + 60 + 2 ms; ring of 100 MB among 4 at 10 Gb/s: 120 ms; H = 8; an outer update of 1.5·2 ms.
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const Scenario scenario = scenario_of(star_cluster(4, 10_Gbps), every(8, 1.5));
  const StepForecast f = forecast(scenario, w);
  require_close(0.107375, f.step.si(), 1e-12, "92 + (120 + 3)/8 ms");
  require_close(0.107375, f.first_step.si(), 1e-12, "first step");
  require_close(0.030, f.breakdown.forward.si(), 1e-12, "forward");
  require_close(0.060, f.breakdown.backward.si(), 1e-12, "backward");
  require_close(0.002375, f.breakdown.update.si(), 1e-12, "2 + 3/8 ms");
  require_close(0.015, f.breakdown.exposed_communication.si(), 1e-12, "120/8 ms: nothing hides it");
  // The bound: computation with the updates, and an eighth of 2·3/4·100 MB·0.8 ns/B.
  const Bound bound = lower_bound(scenario, w, build_step_graph(scenario, w));
  require_close(0.092375, bound.compute.si(), 1e-12, "bound: compute");
  require_close(0.015, bound.bandwidth.si(), 1e-12, "bound: bandwidth");
  // Each of the 8 steps of 3 passes: 3·90 + 2 ms.
  Workload accumulating = w;
  accumulating.accumulation = 3;
  require_close(0.287375, step_time(scenario, accumulating), 1e-12, "272 + 123/8 ms");
}

TEST_CASE("local SGD: f + b + u + (T + C + o·u)/H") {
  property(
      "any star, codec and number of steps",
      [] {
        const Cluster cluster = random_star();
        Workload w = random_workload();
        w.accumulation = integer_between(1, 5);
        const int H = integer_between(1, 40);
        const double outer = coin() ? real_between(0, 3) : 0, n = w.gradient_bytes.si(), ratio = real_between(1, 10),
                     encode = real_between(0, 1e-9), decode = real_between(0, 1e-9);
        const Scenario scenario = scenario_of(cluster, every(H, outer),
                                              RatioCompressor{ratio, SecondsPerByte(encode), SecondsPerByte(decode)});
        const double once = ring_all_reduce(cluster, n / ratio) + n * (encode + decode) + outer * w.update.si();
        const StepForecast f = forecast(scenario, w);
        assert_close(w.compute().si() + once / H, f.step.si(), 1e-9, fmt::format("H={}", H));
        assert_close(f.step.si(), f.first_step.si(), 1e-9, "nothing of a round reaches into the next");
        assert_close(f.step.si(), f.breakdown.total().si(), 1e-9, "parts");
        RC_ASSERT(lower_bound(scenario, w, build_step_graph(scenario, w)).step <= f.step * (1 + 1e-9));
      },
      1000);
}

TEST_CASE("averaged after every step local SGD takes as long as whole-model all-reduce") {
  property("on workers of any speed", [] {
    Cluster cluster = random_star();
    if (coin()) cluster.groups = {{integer_between(1, cluster.workers), real_between(0.2, 2), {}, {}}};
    const Workload w = random_workload();
    assert_close(step_time(scenario_of(cluster, AllReduceStrategy{ring_choice(), {}}), w),
                 step_time(scenario_of(cluster, every(1)), w), 1e-12, "step");
  });
}

TEST_CASE("rarer averaging makes a step shorter, down to computing alone") {
  property("any grouping", [] {
    const Cluster cluster = random_star();
    const Workload w = random_workload();
    LocalSgdStrategy strategy = every(1, real_between(0, 2));
    strategy.grouping = static_cast<Grouping>(integer_between(0, 2));
    const double once = step_time(scenario_of(cluster, strategy), w);
    double before = once;
    for (const int H : {2, 3, 8, 9, 10000}) {
      strategy.steps = H;
      const double step = step_time(scenario_of(cluster, strategy), w);
      if (step > before * (1 + 1e-9)) RC_FAIL(fmt::format("H={}: {} s after {}", H, step, before));
      before = step;
    }
    RC_ASSERT(before >= w.compute().si() * (1 - 1e-9));
    RC_ASSERT(before <= w.compute().si() + once / 10000 + 1e-9 * once);
  });
}

TEST_CASE("buckets of parameters travel one after the other, while the codec works on others") {
  // Ring among 2 at 1 GB/s: 40 MB take 40 ms, 60 MB 60 ms. H = 5, 30 + 60 + 2 ms.
  const Workload w = workload_of(30_ms, {{40e6, 0.02}, {60e6, 0.04}}, 0_s, 2_ms);
  LocalSgdStrategy strategy = every(5);
  strategy.grouping = Grouping::per_tensor;
  const Cluster cluster = star_cluster(2, BytesPerSecond(1e9));
  require_close(0.112, step_time(scenario_of(cluster, strategy), w), 1e-12, "92 + (40 + 60)/5 ms");
  // Encoding takes 20 and 30 ms, decoding 10 and 15. After the last update, they are encoded at 20 and 50, and sent
  // from 20 to 60 and from 60 to 120. They are decoded from 60 to 70 and from 120 to 135 ms.
  const RatioCompressor codec{1.0, 0.5_ns_per_B, 0.25_ns_per_B};
  require_close(0.119, step_time(scenario_of(cluster, strategy, codec), w), 1e-12, "92 + 135/5 ms");
  // Buckets close with the tensor that fills them, all at one cap, where an all-reduce's first one is smaller.
  strategy.grouping = Grouping::bucketed;
  strategy.bucket_cap = 40_MB;
  CHECK(build_step_graph(scenario_of(cluster, strategy), w).tasks.size() == 3 + 2);
  strategy.bucket_cap = 41_MB;
  CHECK(build_step_graph(scenario_of(cluster, strategy), w).tasks.size() == 3 + 1);
}

TEST_CASE("averages travel while workers make further steps") {
  // A step of 92 ms; ring of 100 MB among 4 at 10 Gb/s: 120 ms; H = 8; an outer update of 1.5·2 ms.
  const Workload w = simple_workload(30_ms, 60_ms, 2_ms, 100_MB);
  const auto step = [&](int steps, int averaging_steps, double outer) {
    LocalSgdStrategy strategy = every(steps, outer);
    strategy.averaging_steps = averaging_steps;
    return step_time(scenario_of(star_cluster(4, 10_Gbps), strategy), w);
  };
  require_close(0.0955, step(8, 1, 0), 1e-12, "92 + (120 - 92)/8 ms: used after one more step");
  require_close(0.095875, step(8, 1, 1.5), 1e-12, "92 + (28 + 3)/8 ms");
  require_close(0.092, step(8, 2, 0), 1e-12, "120 ms behind two steps of 92 ms");
  require_close(0.092375, step(8, 8, 1.5), 1e-12, "92 + 3/8 ms: used a whole round late, as in CoCoD-SGD");
  require_close(0.120, step(1, 1, 0), 1e-12, "one average follows the other, 120 ms each");
}

TEST_CASE("averages in flight: (H - tau)·c + max(tau·c, T) + o·u for H steps") {
  property(
      "any star and step c, tau from 0 to H",
      [] {
        const Cluster cluster = random_star();
        const Workload w = random_workload();
        LocalSgdStrategy strategy = every(integer_between(1, 40), coin() ? real_between(0, 3) : 0);
        strategy.averaging_steps = integer_between(0, strategy.steps);
        const double c = w.compute().si(), T = ring_all_reduce(cluster, w.gradient_bytes.si()), H = strategy.steps,
                     tau = strategy.averaging_steps;
        // The next average is sent after the rest of the round.
        const double round = (H - tau) * c + std::max(tau * c, T) + strategy.outer_update_factor * w.update.si();
        const Scenario scenario = scenario_of(cluster, strategy);
        const StepForecast f = forecast(scenario, w);
        assert_close(round / H, f.step.si(), 1e-9, fmt::format("H={} tau={}", H, tau));
        assert_close(f.step.si(), f.breakdown.total().si(), 1e-9, "parts");
        RC_ASSERT(lower_bound(scenario, w, build_step_graph(scenario, w)).step <= f.step * (1 + 1e-9));
      },
      1000);
}

TEST_CASE("fragments are averaged one after the other") {
  // 40 MB and 60 MB among 2; H = 5 steps of 92 ms. Fragment 1 is sent after ceil(5/2) = 3 steps, fragment 2 after 5.
  const Workload w = workload_of(30_ms, {{40e6, 0.02}, {60e6, 0.04}}, 0_s, 2_ms);
  const auto step = [&](double bandwidth, int averaging_steps, const Compressor& compressor) {
    LocalSgdStrategy strategy = every(5);
    strategy.fragments = 2;
    strategy.averaging_steps = averaging_steps;
    return step_time(scenario_of(star_cluster(2, BytesPerSecond(bandwidth)), strategy, compressor), w);
  };
  require_close(0.112, step(1e9, 0, NoCompressor{}), 1e-12, "92 + (40 + 60)/5 ms: workers wait for both");
  require_close(0.092, step(1e9, 1, NoCompressor{}), 1e-12, "40 and 60 ms behind a step each");
  require_close(0.0976, step(0.5e9, 1, NoCompressor{}), 1e-12, "of 80 and 120 ms 28 are not hidden: 92 + 28/5 ms");
  require_close(0.1352, step(0.25e9, 1, NoCompressor{}), 1e-12, "160 - 92 and 240 - 92: 92 + (68 + 148)/5 ms");
  require_close(0.1032, step(0.25e9, 2, NoCompressor{}), 1e-12, "160 are hidden by 184, of 240 remain 56: 92 + 56/5");
  // Kernels run between steps and hide nothing: 0.75 ns/B of 100 MB.
  const RatioCompressor codec{1.0, 0.5_ns_per_B, 0.25_ns_per_B};
  require_close(0.107, step(1e9, 1, codec), 1e-12, "92 + 75/5 ms");
  // A quarter of the bytes, 25 ms of messages; workers wait for them and for kernels.
  require_close(0.112, step(1e9, 0, RatioCompressor{4.0, 0.5_ns_per_B, 0.25_ns_per_B}), 1e-12, "92 + (75 + 25)/5 ms");
}

TEST_CASE("auto takes the faster carrier, also for averages in flight") {
  // One message of 1/4 of the gradient: gathered from p workers, or in parts.
  Workload w = workload_of(5_ms, {{4e6, 0.01}, {2e6, 0.01}}, 0_s, 1_ms);
  for (const int p : {2, 4, 16})
    for (const double bandwidth : {1e8, 1e9, 1e10})
      for (const int averaging_steps : {0, 1, 4}) {
        LocalSgdStrategy strategy = every(4);
        strategy.fragments = 2;
        strategy.averaging_steps = averaging_steps;
        const auto step = [&](Carrier carrier) {
          strategy.carrier = carrier;
          Scenario scenario = scenario_of(star_cluster(p, BytesPerSecond(bandwidth)), strategy, EightBit{});
          scenario.codec.device = device_of(10_us, BytesPerSecond(1e11), FlopsPerSecond(1e13));
          return step_time(scenario, w);
        };
        INFO(fmt::format("p={} {} B/s tau={}", p, bandwidth, averaging_steps));
        require_close(std::min(step(Carrier::all_gather), step(Carrier::all_to_all_once)), step(Carrier::automatic),
                      1e-9, "step");
      }
}

TEST_CASE("a fragment has the tensors whose middle lies in its part of all bytes") {
  // 100 bytes in three fragments, cut at 33.3 and 66.7. Middles are at 5, 30, 65 and 90.
  const Workload w = workload_of(1_ms, {{10, 1e-3}, {40, 1e-3}, {30, 1e-3}, {20, 1e-3}}, 0_s, 0_s);
  LocalSgdStrategy strategy = every(3);
  strategy.fragments = 3;
  for (const auto& [grouping, sent] : {std::pair(Grouping::whole_model, std::vector<double>{50, 30, 20}),
                                       std::pair(Grouping::per_tensor, std::vector<double>{10, 40, 30, 20})}) {
    strategy.grouping = grouping;
    std::vector<double> bytes;
    for (const Task& task : build_step_graph(scenario_of(star_cluster(2, 10_Gbps), strategy), w).tasks)
      if (const auto* work = std::get_if<CollectiveWork>(&task.work)) bytes.push_back(work->call.bytes.si());
    CHECK(bytes == sent);
  }
}

TEST_CASE("local SGD compresses the steps' changes, as all-reduce does gradients") {
  // 1000 x 1000 elements, 20 ms of backward; an exchange adds as much to each H-th step as to each of all-reduce's
  // steps here.
  Workload w = workload_of(5_ms, {{4e6, 0.02}}, 0_s, 1_ms);
  w.gradients[0].dims = {1000, 1000};
  for (const Compressor& compressor : all_compressors()) {
    INFO(kind_of(compressor));
    Scenario scenario =
        scenario_of(star_cluster(4, BytesPerSecond(1e9), 10_us), AllReduceStrategy{ring_choice(), {}}, compressor);
    scenario.codec.device = device_of(10_us, BytesPerSecond(1e11), FlopsPerSecond(1e13));
    const double exchange = step_time(scenario, w) - 0.026;
    const Bytes payload = build_step_graph(scenario, w).payload;
    scenario.strategy = every(4);
    require_close(0.026 + exchange / 4, step_time(scenario, w), 1e-9, "step");
    CHECK(build_step_graph(scenario, w).payload == payload);
  }
}

TEST_CASE("local SGD waits for the slowest worker once in H steps") {
  // 3 workers take 92 ms a step, one 184 ms; 120 ms of exchange every 4 steps.
  Cluster cluster = star_cluster(4, 10_Gbps);
  cluster.groups = {{1, 0.5, {}, {}}};
  const StepForecast f = forecast(scenario_of(cluster, every(4)), simple_workload(30_ms, 60_ms, 2_ms, 100_MB));
  require_close(0.214, f.step.si(), 1e-12, "184 + 120/4 ms");
  require_close(0.069, f.breakdown.waiting.si(), 1e-12, "three of four wait 92 ms a step");
}
