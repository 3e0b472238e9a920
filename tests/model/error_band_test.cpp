// A profile's spread on its way to a step's error band, and a profile's transfer to another device.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/equation/error_band.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/spread.hpp"
#include "models/workload/timing_notes.hpp"
#include "models/workload/transfer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"
#include "tests/support/test_scenarios.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

Band band_at(const Scenario& scenario, Seconds stated, Seconds shown) {
  SidedWorkloads sides;
  return band_of(scenario, CachedPrices(scenario.cluster), stated, shown, sides);
}
ErrorBand error_band_at(const Scenario& scenario, const StepGraph& graph, std::optional<Seconds> stated,
                        Seconds shown) {
  SidedWorkloads sides;
  return error_band(scenario, graph, CachedPrices(scenario.cluster), stated, shown, sides);
}

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

Seconds stated_step(const Scenario& scenario, const Workload& workload) {
  return evaluate(build_step_graph(scenario, workload), scenario.cluster).step;
}

AllReduceStrategy whole_model() {
  AllReduceStrategy strategy;
  strategy.exchange.grouping = Grouping::whole_model;
  strategy.collective = ring_choice();
  return strategy;
}

/// A product with a shape of its own whose forward time is a multiple of the roofline's.
LayerEntry off_by(double factor, int index, const DeviceProfile& profile, Dtype dtype = Dtype::fp32) {
  LayerEntry entry{Linear{100 + index, 64, 1, false, false}, 8, dtype, {}, {}, {}, Evidence::measured, "test"};
  entry.forward = roofline(work_of(entry.shape, 8, dtype).forward, profile, dtype) * factor;
  return entry;
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
    const double ring = ring_all_reduce(scenario.cluster, workload.gradient_bytes.si()),
                 compute = workload.compute().si();
    const Band band = band_at(scenario, stated_step(scenario, workload), Seconds(compute + ring));
    assert_close(compute / (1 + spread) + ring, band.low.si(), 1e-12, "low");
    assert_close(compute * (1 + spread) + ring, band.high.si(), 1e-12, "high");
    // On a replay's time it lies in the same proportion.
    assert_close(2 * band.high.si(),
                 band_at(scenario, stated_step(scenario, workload), Seconds(2 * (compute + ring))).high.si(), 1e-12,
                 "twice the step");
  });
}

TEST_CASE("band: measured times stand on the device and at the batch that they are of") {
  // Both layers use the roofline of one profile, whose constants are all off by one factor. The error of the whole is
  // the errors' sum on either side. The update was not measured.
  const DeviceProfile profile = profile_of(1_TFLOPS, 100_GBps, 1_us, 0.2);
  WorkloadTable table = two_layers(profile);
  table.measured = MeasuredTimes{5_ms, 9_ms, {}, {}, 8, Dtype::fp32, profile};
  const Scenario alone = scenario_of(table, AllReduceStrategy{}, 1);
  const Seconds update = make_workload(table).update, step = 5_ms + 9_ms + update;
  const Band band = band_at(alone, step, step);
  require_close(14_ms + update / 1.2, band.low, 1e-12, "low");
  require_close(14_ms + update * 1.2, band.high, 1e-12, "high");
}

TEST_CASE("band: mixed precision has the roofline's spread of the operands") {
  // Known within a factor 1.5 in fp32 and 4 in bf16; one worker alone computes, and gradients are fp32.
  DeviceProfile profile = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  profile.peaks.push_back({Dtype::bf16, 8_TFLOPS, Evidence::measured, "test", {}});
  profile.roofline_spread = {{Dtype::fp32, 0.5, 9, Evidence::measured, "test"},
                             {Dtype::bf16, 3, 9, Evidence::measured, "test"}};
  WorkloadTable table = two_layers(profile);
  table.compute_dtype = Dtype::bf16;
  const Scenario scenario = scenario_of(table, whole_model(), 1);
  const Band band = band_at(scenario, stated_step(scenario, make_workload(table)), 8_ms);
  require_close(2_ms, band.low, 1e-12, "low");
  require_close(32_ms, band.high, 1e-12, "high");
}

TEST_CASE("band: a compressor's kernels have the spread of the codec's device") {
  // 1 ms and 2 ms of computing are given, the ring among 2 sends 4 MB as 2 MB of fp16. The rest of the step is
  // casting, within 1.5.
  WorkloadTable table;
  table.name = "given";
  table.forward = 1_ms;
  table.gradients = {{"w", 1000000, 2_ms}};
  Scenario scenario = scenario_of(table, whole_model(), 2);
  scenario.compressor = Fp16{};
  scenario.codec.device = profile_of(1_TFLOPS, 100_GBps, 3_us, 0.5);
  const Seconds stated = stated_step(scenario, make_workload(table)),
                casting = stated - 3_ms - Seconds(ring_all_reduce(scenario.cluster, 2e6));
  REQUIRE(casting > 100_us);
  CHECK(has_spread(scenario));
  const Band band = band_at(scenario, stated, stated);
  require_close(stated + casting * 0.5, band.high, 1e-12, "high");
  require_close(stated - casting / 3.0, band.low, 1e-12, "low");
}

TEST_CASE("band: entries of layers and kernels, each by its own spread") {
  DeviceProfile profile = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  CHECK_FALSE(has_spread(profile));
  profile.layers = {
      {Linear{512, 256, 1, true, false}, 8, Dtype::fp32, 4_us, {}, 8_us, Evidence::measured, "test", 0.25}};
  profile.kernels = {cast_of(1.0)};
  CHECK(has_spread(profile));
  const DeviceProfile slow = at_side(profile, Side::slow, Dtype::fp32),
                      fast = at_side(profile, Side::fast, Dtype::fp32);
  require_close(5_us, *slow.layers[0].forward, 1e-15, "4 us · 1.25");
  require_close(6.4_us, *fast.layers[0].weight_gradient, 1e-15, "8 us / 1.25");
  CHECK_FALSE(slow.layers[0].data_gradient);
  require_close(20_us, slow.kernels[0].launch, 1e-15, "10 us · 2");
  require_close(100_GBps, fast.kernels[0].bandwidth, 1e-15, "50 GB/s · 2");
  require_close(1_TFLOPS, *slow.kernels[0].peak, 1e-15, "2 TFLOPS / 2");
  require_close(80_us, slow.kernels[0].knots[0].time, 1e-15, "40 us · 2");
  CHECK(slow.memory_bandwidth == profile.memory_bandwidth);
}

TEST_CASE("roofline: its spread is the rank of the measured factors that covers nine tenths") {
  DeviceProfile profile = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  profile.peaks.push_back({Dtype::bf16, 8_TFLOPS, Evidence::measured, "test", {}});
  CHECK(judge_roofline(profile).empty());
  const auto of = [&](int parts, Dtype dtype) {
    // Factors 1.1, 1.2, ... in no order, every other one below the roofline.
    for (int i = 1; i <= parts; ++i) {
      const int at = i * 7 % (parts + 1);  // each of 1 .. parts once, where 7 and parts + 1 have no common divisor
      const double factor = 1 + 0.1 * at;
      profile.layers.push_back(off_by(at % 2 == 0 ? 1 / factor : factor, i, profile, dtype));
    }
  };
  of(29, Dtype::fp32);  // rank 0.9 · 30 = 27 of 29
  of(3, Dtype::bf16);   // rank 3.6, more than there are: the largest
  const std::vector<RooflineSpread> spreads = judge_roofline(profile);
  REQUIRE(spreads.size() == 2);
  CHECK(spreads[0].dtype == Dtype::fp32);
  CHECK(spreads[0].parts == 29);
  CHECK(spreads[0].evidence == Evidence::measured);
  require_close(2.7, spreads[0].spread, 1e-12, "27th of 29");
  CHECK(spreads[1].dtype == Dtype::bf16);
  CHECK(spreads[1].parts == 3);
  require_close(0.3, spreads[1].spread, 1e-12, "the largest of 3");

  // An unmeasured part tells nothing of the roofline, nor does a part without kernels: a sum has no weights.
  LayerEntry transferred = off_by(50, 0, profile, Dtype::bf16);
  transferred.evidence = Evidence::transferred;
  profile.layers.push_back(transferred);
  profile.layers.push_back({Add{1000}, 8, Dtype::bf16, {}, {}, 1_s, Evidence::measured, "test"});
  CHECK(judge_roofline(profile) == spreads);
  // A factor beyond the range of a spread is cut off there.
  profile.layers = {off_by(500, 0, profile)};
  CHECK(judge_roofline(profile)[0].spread == 100);

  profile.roofline_spread = spreads;
  CHECK(find_roofline_spread(profile, Dtype::bf16)->spread == spreads[1].spread);
  CHECK(find_roofline_spread(profile, Dtype::tf32)->spread == spreads[0].spread);  // the widest
  profile.roofline_spread.clear();
  CHECK(find_roofline_spread(profile, Dtype::tf32) == nullptr);
}

// If n + 1 factors follow one law, each is equally likely to have any rank. The last is within the k-th of the others
// with probability k/(n + 1), here 19/21 for n = 20. In 4,000 trials, that happens in 90.5 %, give or take sqrt(0.905 ·
// 0.095/4000) = 0.5 %.
TEST_CASE("roofline: a further part is within the spread as often as said") {
  const DeviceProfile device = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> factor(0.4, 0.5);
  int within = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    DeviceProfile profile = device;
    for (int i = 0; i < 20; ++i) profile.layers.push_back(off_by(factor(random), i, device));
    const double further = factor(random);
    within += std::max(further, 1 / further) <= 1 + judge_roofline(profile)[0].spread ? 1 : 0;
  }
  require_close(19.0 / 21, within / 4000.0, 4 * 0.005 / 0.905, "within the spread");
}

TEST_CASE("band: parts without an entry move by the roofline's own spread") {
  property("whole-model ring", [] {
    const double constants = positive_between(1e-3, 1), own = positive_between(1e-3, 2),
                 entry = positive_between(1e-3, 1);
    DeviceProfile profile = profile_of(1_TFLOPS, 100_GBps, 3_us, constants);
    profile.layers = {
        {Linear{512, 256, 1, true, false}, 8, Dtype::fp32, 4_us, {}, 8_us, Evidence::measured, "test", entry}};
    profile.roofline_spread = {{Dtype::fp32, own, 9, Evidence::measured, "test"},
                               {Dtype::bf16, 90, 9, Evidence::measured, "test"}};
    const WorkloadTable table = two_layers(profile);
    const Workload workload = make_workload(table);
    const Scenario scenario = scenario_of(table, whole_model(), static_cast<int>(integer_between(1, 9)));
    // The first layer's 4 + 8 us are known; its data gradient is never computed. The second layer and the update use
    // the roofline, with the constants' factor times each one's own.
    const double ring = ring_all_reduce(scenario.cluster, workload.gradient_bytes.si()), known = 12e-6,
                 rest = workload.compute().si() - known;
    const Band band = band_at(scenario, stated_step(scenario, workload), Seconds(known + rest + ring));
    assert_close(known / (1 + entry) + rest / (1 + constants) / (1 + own) + ring, band.low.si(), 1e-12, "low");
    assert_close(known * (1 + entry) + rest * (1 + constants) * (1 + own) + ring, band.high.si(), 1e-12, "high");
  });
}

TEST_CASE("notes: the share of a step without an entry, and the known error of the roofline there") {
  DeviceProfile profile = profile_of(1_TFLOPS, 100_GBps, 0_s, {});
  for (Evidence* evidence :
       {&profile.compute_efficiency.evidence, &profile.memory_efficiency.evidence, &profile.bend.evidence})
    *evidence = Evidence::measured;
  const auto notes = [&] { return texts_of(timing_notes(two_layers(profile))); };
  CHECK(
      notes()
          .empty());  // nothing measured of layers and no spread: all is the roofline's, which constants' evidence says
  const LayerWork first = work_of(Linear{512, 256, 1, true, false}, 8, Dtype::fp32);
  const auto by_roofline = [&](const KernelWork& work) { return roofline(work, profile, Dtype::fp32); };
  const Seconds all = make_workload(two_layers(profile)).compute();
  // Entries with the roofline's times leave the whole unchanged, and their part of it is known.
  const Seconds known = by_roofline(first.forward) + by_roofline(first.weight_gradient);
  profile.layers = {{Linear{512, 256, 1, true, false},
                     8,
                     Dtype::fp32,
                     by_roofline(first.forward),
                     {},
                     by_roofline(first.weight_gradient),
                     Evidence::measured,
                     "test"}};
  const TimeByRoofline time = time_by_roofline(two_layers(profile), profile, 8);
  require_close(all, time.all, 1e-12, "the step's computing");
  require_close(all - known, time.by_roofline, 1e-12, "of it, without an entry");
  REQUIRE(notes().size() == 1);
  CHECK_THAT(
      notes()[0],
      ContainsSubstring(
          "% of forward, backward and update has no entry in the profile \"made-up\" but follows from the roofline, "
          "whose own error is unknown: an error band leaves it out"));
  profile.roofline_spread = {{Dtype::fp32, 0.75, 12, Evidence::measured, "test"}};
  CHECK_THAT(
      notes()[0],
      ContainsSubstring(
          "follows from the roofline, which is within a factor 1.75 of nine tenths of 12 measured parts of layers in fp32"));
  // Another batch has no entry: all of it.
  WorkloadTable table = two_layers(profile);
  table.batch = 16;
  CHECK_THAT(timing_notes(table)[0].text, ContainsSubstring("100 % of forward"));
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
  require_close(stated * 1.25, update_by(at_side(profile, Side::slow, Dtype::fp32)), 1e-12, "slow");
  require_close(stated * 0.8, update_by(at_side(profile, Side::fast, Dtype::fp32)), 1e-12, "fast");
  const DeviceProfile from = profile_of(2_TFLOPS, 120_GBps, 5_us, {});
  DeviceProfile to = from;
  to.memory_bandwidth.value *= 3;
  to.clock->value *= 2;
  require_close(8_us + Seconds(7889920 / 150e9), update_by(transfer(profile, from, to, "moved")), 1e-12,
                "launches over 2, bytes over 3");
}

// If communication hides all computing, both sides are the step itself.
TEST_CASE("band: contains the step, for any strategy, and is nothing without a spread") {
  property("bucketed, pipelined and served", [] {
    AllReduceStrategy per_tensor;
    per_tensor.exchange.grouping = Grouping::per_tensor;
    const Strategy strategies[] = {per_tensor, PipelinedStrategy{}, ParameterServerStrategy{}};
    const WorkloadTable table = two_layers(profile_of(1_TFLOPS, 100_GBps, 3_us, positive_between(1e-3, 1)));
    const Workload workload = make_workload(table);
    const Scenario scenario =
        scenario_of(table, strategies[integer_between(0, 2)], static_cast<int>(integer_between(1, 9)));
    const Band band = band_at(scenario, stated_step(scenario, workload), 1_s);
    RC_ASSERT(band.low <= 1_s);
    RC_ASSERT(band.high >= 1_s);
  });
  CHECK_FALSE(has_spread(scenario_of(two_layers(profile_of(1_TFLOPS, 100_GBps, 3_us, {})), whole_model(), 2)));
}

TEST_CASE("transfer: to itself nothing changes") {
  DeviceProfile measured = profile_of(1_TFLOPS, 100_GBps, 3_us, 0.05);
  measured.layers = {
      {Linear{512, 256, 1, true, false}, 8, Dtype::fp32, 4_us, 5_us, 8_us, Evidence::measured, "test", 0.1}};
  measured.kernels = {cast_of(0.2)};
  measured.roofline_spread = {{Dtype::fp32, 0.3, 10, Evidence::measured, "test"}};
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
  require_close(0.3, moved.roofline_spread.at(0).spread, 1e-12, "roofline's spread");
  CHECK(moved.roofline_spread[0].evidence == Evidence::transferred);
  CHECK(moved.kernels[0].source == "made-up: test (measured)");
}

TEST_CASE("transfer: each rate by its own ratio") {
  DeviceProfile measured = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  measured.launch_overhead.value = 0_s;  // layers by arithmetic and traffic alone
  // 512 x 8192 x 1024 multiply-accumulates are 8.6 ms at 1 TFLOPS, 52 MB 0.5 ms: arithmetic, nearly alone at a bend of
  // 64. A sum moves 3 numbers for one addition: traffic.
  measured.bend.value = 64;
  measured.layers = {
      {Linear{8192, 1024, 1, false, false}, 512, Dtype::fp32, 10_ms, {}, {}, Evidence::measured, "test", {}},
      {Add{1000000}, 8, Dtype::fp32, 1_ms, {}, {}, Evidence::measured, "test", {}}};
  measured.kernels = {cast_of(0)};
  measured.roofline_spread = {{Dtype::fp32, 0.2, 10, Evidence::measured, "test"}};
  measured.codecs = {{.method = "qsgd",
                      .per_tensor = 10_us,
                      .per_element = 3_ns,
                      .per_rank = 8_us,
                      .decode = CodecTime{4_us, 6_ns, 2_us},
                      .source = "test"}};
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
  require_close(1.0, moved.roofline_spread[0].spread, 1e-12, "roofline's spread: 1.2 · 5/3 - 1");
  const CodecEntry& codec = moved.codecs.at(0);
  require_close(5_us, codec.per_tensor, 1e-12, "a codec's tensor, over 2");
  require_close(4_us, codec.per_rank, 1e-12, "a column of its factors, over 2");
  require_close(1_ns, codec.per_element, 1e-12, "a codec's element, over 3");
  require_close(2_us, codec.decode->per_tensor, 1e-12, "its decoding of a tensor, over 2");
  require_close(1_us, codec.decode->per_rank, 1e-12, "its decoding of a column, over 2");
  require_close(2_ns, codec.decode->per_element, 1e-12, "its decoding of an element, over 3");

  // Hardly any work: its time is the launch, over 2. The same time by the peak instead would be 5/2 away.
  measured.launch_overhead.value = 3_us;
  measured.layers = {{Add{1}, 1, Dtype::fp32, 2_us, {}, {}, Evidence::measured, "test", {}}};
  const DeviceProfile small = transfer(measured, from, to, "small");
  require_close(1_us, *small.layers[0].forward, 1e-3, "2 us over 2");
  require_close(1.5, *small.layers[0].spread, 1e-3, "its spread");
}

TEST_CASE("transfer: the band reaches whatever bound a kernel has") {
  property("a time's two possible changes", [] {
    DeviceProfile measured =
        profile_of(FlopsPerSecond(positive_between(1e11, 1e14)), BytesPerSecond(positive_between(1e10, 1e12)), {}, {});
    const Linear shape{static_cast<Count>(integer_between(1, 2000)), static_cast<Count>(integer_between(1, 2000)), 1,
                       true, false};
    measured.layers = {
        {shape, 8, Dtype::fp32, Seconds(positive_between(1e-6, 1e-2)), {}, {}, Evidence::measured, "test", {}}};
    const DeviceProfile from = profile_of(FlopsPerSecond(positive_between(1e11, 1e14)),
                                          BytesPerSecond(positive_between(1e10, 1e12)), 1_us, {});
    const DeviceProfile to = profile_of(FlopsPerSecond(positive_between(1e11, 1e14)),
                                        BytesPerSecond(positive_between(1e10, 1e12)), 1_us, {});
    const DeviceProfile moved = transfer(measured, from, to, "moved");
    const double time = moved.layers[0].forward->si(), reach = 1 + *moved.layers[0].spread,
                 before = measured.layers[0].forward->si();
    for (const double ratio :
         {to.peaks[0].rate / from.peaks[0].rate, to.memory_bandwidth.value / from.memory_bandwidth.value}) {
      RC_ASSERT(before / ratio <= time * reach * (1 + 1e-9) || reach > 100);
      RC_ASSERT(before / ratio >= time / reach * (1 - 1e-9) || reach > 100);
    }
  });
}

TEST_CASE("transfer: types without a peak go, and nothing measured is refused") {
  DeviceProfile measured = profile_of(1_TFLOPS, 100_GBps, 3_us, {});
  measured.peaks.push_back({Dtype::bf16, 10_TFLOPS, Evidence::measured, "test", {}});
  measured.layers = {{Linear{}, 1, Dtype::bf16, 1_us, {}, {}, Evidence::measured, "test", {}}};
  measured.roofline_spread = {{Dtype::bf16, 0.2, 10, Evidence::measured, "test"}};
  const DeviceProfile datasheet = profile_of(2_TFLOPS, 120_GBps, 5_us, {});
  const DeviceProfile moved = transfer(measured, datasheet, datasheet, "moved");
  CHECK(moved.peaks.size() == 1);
  CHECK(moved.roofline_spread.empty());
  CHECK(moved.layers.empty());

  DeviceProfile other = datasheet;
  other.peaks[0].dtype = Dtype::fp16;
  CHECK_THROWS_WITH(transfer(measured, datasheet, other, "moved"), ContainsSubstring("no peak of a type that both"));
  DeviceProfile assumed = datasheet;
  assumed.memory_bandwidth.evidence = Evidence::datasheet;
  CHECK_THROWS_WITH(transfer(assumed, datasheet, datasheet, "moved"), ContainsSubstring("holds no measurement"));
}

TEST_CASE("a stack's spread is a band of its own, and widens a profile's") {
  // spread 0.1: e^(1.644854·0.1) = 1.178786. One worker has no exchange, and no band.
  Scenario scenario = scenario_of(star_cluster(4, 10_Gbps, 25_us), AllReduceStrategy{});
  scenario.cluster.stack.spread = 0.1;
  const Workload w = simple_workload(10_ms, 20_ms, 1_ms, 1_MB);
  const StepGraph graph = build_step_graph(scenario, w);
  const ErrorBand band = error_band_at(scenario, graph, {}, 100_ms);
  REQUIRE(band.band);
  CHECK(std::abs(band.band->low.si() / 0.0848330 - 1) < 1e-5);
  CHECK(std::abs(band.band->high.si() / 0.1178786 - 1) < 1e-5);
  scenario.cluster.workers = 1;
  CHECK_FALSE(error_band_at(scenario, build_step_graph(scenario, w), {}, 100_ms).band);
}
