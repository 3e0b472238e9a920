// A profile's spread on its way to a step's error band, and a profile's transfer to another device.
#include <memory>
#include <string>

#include "models/report/band.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/spread.hpp"
#include "models/workload/transfer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/scenario.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

/// A made-up device on which everything counts as measured.
DeviceProfile profile_of(FlopsPerSecond peak, BytesPerSecond bandwidth, Seconds launch, std::optional<double> spread) {
  DeviceProfile profile;
  profile.name = "made-up";
  profile.peaks = {{Dtype::fp32, peak, Evidence::measured, "test", spread}};
  profile.memory_bandwidth = {bandwidth, Evidence::measured, "test", spread};
  profile.launch_overhead = {launch, Evidence::measured, "test", spread};
  profile.clock = ProfileEntry<Hertz>{1_GHz, Evidence::measured, "test", {}};
  return profile;
}

KernelEntry cast_of(double spread) {
  KernelEntry entry{"cast", 10_us, 50_GBps, 2_TFLOPS, Evidence::measured, "test"};
  entry.knots = {{1_MB, 40_us}};
  entry.spread = spread;
  return entry;
}

WorkloadTable two_layers(DeviceProfile profile) {
  WorkloadTable table;
  table.name = "two layers";
  table.batch = 8;
  table.layers.resize(2);
  table.layers[0].name = "first";
  table.layers[0].shape = Linear{512, 256, 1, true, false};
  table.layers[1].name = "second";
  table.layers[1].shape = Linear{256, 1024, 1, true, false};
  table.profile = std::move(profile);
  return table;
}

Scenario scenario_of(const WorkloadTable& table, const Strategy& strategy, int workers) {
  Scenario scenario;
  scenario.workload = std::make_shared<const WorkloadTable>(table);
  scenario.cluster = star_cluster(workers, 1_GBps, 5_us);
  scenario.strategy = strategy;
  return scenario;
}

Seconds stated_step(const Scenario& scenario, const Workload& workload) { return evaluate(build_step_graph(scenario, workload), scenario.cluster).step; }

AllReduceStrategy whole_model() {
  AllReduceStrategy strategy;
  strategy.exchange.grouping = Grouping::whole_model;
  strategy.collective = ring_choice();
  return strategy;
}

}  // namespace

TEST_CASE("band: computing scales, communication does not") {
  property("whole-model ring", [] {
    const double spread = positive_between(1e-3, 2);
    const int p = static_cast<int>(integer_between(1, 9));
    const WorkloadTable table = two_layers(profile_of(1_TFLOPS, 100_GBps, 3_us, spread));
    const Workload workload = make_workload(table);
    const Scenario scenario = scenario_of(table, whole_model(), p);
    // step = compute + ring, one after the other; compute within a factor 1 + s, ring as it is.
    const double ring = ring_all_reduce(scenario.cluster, workload.gradient_bytes.si()), compute = workload.compute().si();
    const Band band = band_of(scenario, stated_step(scenario, workload), Seconds(compute + ring));
    assert_close(compute / (1 + spread) + ring, band.low.si(), 1e-12, "low");
    assert_close(compute * (1 + spread) + ring, band.high.si(), 1e-12, "high");
    // On a replay's time it lies in the same proportion.
    assert_close(2 * band.high.si(), band_of(scenario, stated_step(scenario, workload), Seconds(2 * (compute + ring))).high.si(), 1e-12, "twice the step");
  });
}

TEST_CASE("band: entries of layers and kernels, each by its own spread") {
  DeviceProfile profile = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  CHECK_FALSE(has_spread(profile));
  profile.layers = {{Linear{512, 256, 1, true, false}, 8, Dtype::fp32, 4_us, {}, 8_us, Evidence::measured, "test", 0.25}};
  profile.kernels = {cast_of(1.0)};
  CHECK(has_spread(profile));
  const DeviceProfile slow = at_side(profile, Side::slow), fast = at_side(profile, Side::fast);
  require_close(5_us, *slow.layers[0].forward, 1e-15, "4 us · 1.25");
  require_close(6.4_us, *fast.layers[0].weight_gradient, 1e-15, "8 us / 1.25");
  CHECK_FALSE(slow.layers[0].data_gradient);
  require_close(20_us, slow.kernels[0].launch, 1e-15, "10 us · 2");
  require_close(100_GBps, fast.kernels[0].bandwidth, 1e-15, "50 GB/s · 2");
  require_close(1_TFLOPS, *slow.kernels[0].peak, 1e-15, "2 TFLOPS / 2");
  require_close(80_us, slow.kernels[0].knots[0].time, 1e-15, "40 us · 2");
  CHECK(slow.memory_bandwidth == profile.memory_bandwidth);
}

TEST_CASE("band: a measured update by its own spread, and transferred by bandwidth and clock") {
  DeviceProfile profile = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  profile.kernels = {{"sgd_momentum-update/fp32", 4_us, 50_GBps, {}, Evidence::measured, "test"}};
  profile.kernels[0].spread = 0.25;
  const WorkloadTable table = two_layers(profile);
  const auto update_by = [&](const DeviceProfile& by) { return time_layers(table, by, table.batch).update; };
  // Tensors of 256, 512·256, 1024 and 256·1024 elements, 20 bytes each: 4 launches and 7,889,920 B at 50 GB/s.
  const Seconds stated = 16_us + Seconds(7889920 / 50e9);
  require_close(stated, update_by(profile), 1e-12, "stated");
  require_close(stated * 1.25, update_by(at_side(profile, Side::slow)), 1e-12, "slow");
  require_close(stated * 0.8, update_by(at_side(profile, Side::fast)), 1e-12, "fast");
  const DeviceProfile from = profile_of(2_TFLOPS, 120_GBps, 5_us, {});
  DeviceProfile to = from;
  to.memory_bandwidth.value *= 3;
  to.clock->value *= 2;
  require_close(8_us + Seconds(7889920 / 150e9), update_by(transfer(profile, from, to, "moved")), 1e-12, "launches over 2, bytes over 3");
}

// Where communication hides all computing, both sides are the step itself.
TEST_CASE("band: contains the step, for any strategy, and is nothing without a spread") {
  property("bucketed, pipelined and served", [] {
    AllReduceStrategy per_tensor;
    per_tensor.exchange.grouping = Grouping::per_tensor;
    const Strategy strategies[] = {per_tensor, PipelinedStrategy{}, ParameterServerStrategy{}};
    const WorkloadTable table = two_layers(profile_of(1_TFLOPS, 100_GBps, 3_us, positive_between(1e-3, 1)));
    const Workload workload = make_workload(table);
    const Scenario scenario = scenario_of(table, strategies[integer_between(0, 2)], static_cast<int>(integer_between(1, 9)));
    const Band band = band_of(scenario, stated_step(scenario, workload), 1_s);
    RC_ASSERT(band.low <= 1_s);
    RC_ASSERT(band.high >= 1_s);
  });
  CHECK_FALSE(has_spread(scenario_of(two_layers(profile_of(1_TFLOPS, 100_GBps, 3_us, {})), whole_model(), 2)));
}

TEST_CASE("transfer: to itself nothing changes") {
  DeviceProfile measured = profile_of(1_TFLOPS, 100_GBps, 3_us, 0.05);
  measured.layers = {{Linear{512, 256, 1, true, false}, 8, Dtype::fp32, 4_us, 5_us, 8_us, Evidence::measured, "test", 0.1}};
  measured.kernels = {cast_of(0.2)};
  const DeviceProfile from = profile_of(2_TFLOPS, 120_GBps, 5_us, {});
  const DeviceProfile moved = transfer(measured, from, from, "moved");
  require_close(4_us, *moved.layers[0].forward, 1e-12, "layer's forward");
  require_close(8_us, *moved.layers[0].weight_gradient, 1e-12, "layer's weight gradient");
  // All ratios are 1, whatever bounds a kernel: the band stays.
  require_close(0.1, *moved.layers[0].spread, 1e-12, "layer's spread");
  require_close(0.2, *moved.kernels[0].spread, 1e-12, "kernel's spread");
  CHECK(moved.peaks[0].spread == measured.peaks[0].spread);
  CHECK(moved.layers[0].evidence == Evidence::transferred);
  CHECK(moved.bend.evidence == Evidence::assumed);
  CHECK(moved.kernels[0].source == "made-up: test (measured)");
}

TEST_CASE("transfer: each rate by its own ratio") {
  DeviceProfile measured = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  measured.launch_overhead.value = 0_s;  // layers by arithmetic and traffic alone
  // 512 x 8192 x 1024 multiply-accumulates are 8.6 ms at 1 TFLOPS, 52 MB 0.5 ms: arithmetic, nearly alone at a bend of 64.
  // A sum moves 3 numbers for one addition: traffic.
  measured.bend.value = 64;
  measured.layers = {{Linear{8192, 1024, 1, false, false}, 512, Dtype::fp32, 10_ms, {}, {}, Evidence::measured, "test", {}}, {Add{1000000}, 8, Dtype::fp32, 1_ms, {}, {}, Evidence::measured, "test", {}}};
  measured.kernels = {cast_of(0)};
  const DeviceProfile from = profile_of(2_TFLOPS, 120_GBps, 5_us, {});
  DeviceProfile to = from;
  to.peaks[0].rate *= 5;
  to.memory_bandwidth.value *= 3;
  to.clock->value *= 2;
  const DeviceProfile moved = transfer(measured, from, to, "moved");
  require_close(5_TFLOPS, moved.peaks[0].rate, 1e-15, "peak, times 5");
  require_close(300_GBps, moved.memory_bandwidth.value, 1e-15, "bandwidth, times 3");
  require_close(2_ms, *moved.layers[0].forward, 1e-3, "product, over 5");
  require_close(Seconds(1e-3 / 3), *moved.layers[1].forward, 1e-3, "sum, over 3");
  // Either might really go with the other's rate.
  require_close(5.0 / 3 - 1, *moved.layers[0].spread, 1e-3, "product's spread");
  require_close(5.0 / 3 - 1, *moved.layers[1].spread, 1e-3, "sum's spread");
  require_close(5_us, moved.kernels[0].launch, 1e-15, "kernel's launch: 10 us over 2");
  require_close(150_GBps, moved.kernels[0].bandwidth, 1e-15, "kernel's bandwidth, times 3");
  require_close(10_TFLOPS, *moved.kernels[0].peak, 1e-15, "kernel's peak, times 5");
  require_close(15_us, moved.kernels[0].knots[0].time, 1e-15, "kernel's knot: 10 us over 2, and 30 us over 3");
  require_close(5.0 / 3 - 1, *moved.kernels[0].spread, 1e-12, "kernel's spread");

  // Hardly any work: its time is the launch, over 2; that it is not, but goes with the peak, is 5/2 away.
  measured.launch_overhead.value = 3_us;
  measured.layers = {{Add{1}, 1, Dtype::fp32, 2_us, {}, {}, Evidence::measured, "test", {}}};
  const DeviceProfile small = transfer(measured, from, to, "small");
  require_close(1_us, *small.layers[0].forward, 1e-3, "2 us over 2");
  require_close(1.5, *small.layers[0].spread, 1e-3, "its spread");
}

TEST_CASE("transfer: the band reaches whatever bound a kernel has") {
  property("a time's two possible changes", [] {
    DeviceProfile measured = profile_of(FlopsPerSecond(positive_between(1e11, 1e14)), BytesPerSecond(positive_between(1e10, 1e12)), {}, {});
    const Linear shape{static_cast<Count>(integer_between(1, 2000)), static_cast<Count>(integer_between(1, 2000)), 1, true, false};
    measured.layers = {{shape, 8, Dtype::fp32, Seconds(positive_between(1e-6, 1e-2)), {}, {}, Evidence::measured, "test", {}}};
    const DeviceProfile from = profile_of(FlopsPerSecond(positive_between(1e11, 1e14)), BytesPerSecond(positive_between(1e10, 1e12)), 1_us, {});
    const DeviceProfile to = profile_of(FlopsPerSecond(positive_between(1e11, 1e14)), BytesPerSecond(positive_between(1e10, 1e12)), 1_us, {});
    const DeviceProfile moved = transfer(measured, from, to, "moved");
    const double time = moved.layers[0].forward->si(), reach = 1 + *moved.layers[0].spread, before = measured.layers[0].forward->si();
    for (const double ratio : {to.peaks[0].rate / from.peaks[0].rate, to.memory_bandwidth.value / from.memory_bandwidth.value}) {
      RC_ASSERT(before / ratio <= time * reach * (1 + 1e-9) || reach > 100);
      RC_ASSERT(before / ratio >= time / reach * (1 - 1e-9) || reach > 100);
    }
  });
}

TEST_CASE("transfer: types without a peak go, and nothing measured is refused") {
  DeviceProfile measured = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  measured.peaks.push_back({Dtype::bf16, 10_TFLOPS, Evidence::measured, "test", {}});
  measured.layers = {{Linear{}, 1, Dtype::bf16, 1_us, {}, {}, Evidence::measured, "test", {}}};
  const DeviceProfile datasheet = profile_of(2_TFLOPS, 120_GBps, 5_us, {});
  const DeviceProfile moved = transfer(measured, datasheet, datasheet, "moved");
  CHECK(moved.peaks.size() == 1);
  CHECK(moved.layers.empty());

  DeviceProfile other = datasheet;
  other.peaks[0].dtype = Dtype::fp16;
  CHECK_THROWS_WITH(transfer(measured, datasheet, other, "moved"), ContainsSubstring("no peak of a type that both"));
  DeviceProfile assumed = datasheet;
  assumed.memory_bandwidth.evidence = Evidence::datasheet;
  CHECK_THROWS_WITH(transfer(assumed, datasheet, datasheet, "moved"), ContainsSubstring("holds no measurement"));
}
