// Statistics on numbers whose truth is known, and the profile that comes of it, read by the scenario's own reader.
#include <cmath>
#include <random>
#include <set>

#include "calibrate/calibration_table.hpp"
#include "calibrate/event_overhead.hpp"
#include "calibrate/profile_of_samples.hpp"
#include "calibrate/statistics.hpp"
#include "models/compressor/codec_rates.hpp"
#include "models/describe/reader.hpp"
#include "models/describe/writer.hpp"
#include "models/part/profile.hpp"
#include "models/workload/check_profile.hpp"
#include "models/workload/layer_work.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;
using namespace stepcast::calibrate;

namespace {

/// Samples of one kernel at 24 sizes and in two starts at launch + bytes/bandwidth, 8 bytes an element. The second
/// start's are 2 % longer.
void add(std::vector<Record>& records, const std::string& role, const std::string& method, double launch,
         double bandwidth, std::uint64_t seed) {
  for (const std::int64_t size : log_spaced_sizes(1000, 100000000, 24, seed))
    for (int start = 0; start < 2; ++start) {
      const double bytes = 8.0 * static_cast<double>(size),
                   time = (launch + bytes / bandwidth) * (start == 0 ? 0.99 : 1.01);
      records.push_back({role + "/" + method,
                         role,
                         method,
                         size,
                         start,
                         bytes,
                         0,
                         {0.98 * time, time, time, time, 1.02 * time},
                         {0.5 * time},
                         1.5e9,
                         1,
                         true,
                         true});
    }
}

void add_own(std::vector<Record>& records) {
  const auto one = [&](const char* name, double bytes, double flops, double seconds) {
    records.push_back({name, "", "", 1, 0, bytes, flops, {seconds}, {}, 1.5e9, 0, true, true});
  };
  one(own::kSingle, 0, 0, 4e-6);  // as in the chain: the events add nothing
  one(own::kLaunch, 0, 0, 4e-6);
  records.back().repeats = own::kChain;
  one(own::kCopy, 1e9, 0, 1e-3);          // 1 TB/s
  one(own::kProducts[0], 0, 20e9, 1e-3);  // 20 TFLOPS
  for (int i = 1; i < 4; ++i) one(own::kProducts[i], 0, 200e9, 1e-3);
}

MeasuredDevice device() {
  return {"A made-up device", "9.0", "13.0", "13.0", {}, Hertz(2.6e9), "none", "abc", "2026-11-21"};
}

/// As the scenario's reader takes it from the file.
DeviceProfile read_back(const DeviceProfile& profile) {
  const Json document = Json::parse(write_value(profile).dump());
  DeviceProfile read;
  std::vector<Fault> faults;
  read_value(document, "", read, any, faults);
  check_rates(read, "", faults);
  for (const Fault& fault : faults) UNSCOPED_INFO(to_string(fault));
  REQUIRE(faults.empty());
  return read;
}

}  // namespace

TEST_CASE("quantiles") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(quantile({0, 10}, 0.25) == 2.5);
  CHECK(interquartile_range({1, 2, 3, 4, 5}) == 2);  // 4 - 2
  CHECK_THROWS_AS(median({}), std::invalid_argument);
}

TEST_CASE("the median's error is that of repeated experiments") {
  // 2,000 medians of 100 samples of mean 1 and deviation 0.1 scatter by sqrt(π/2)·0.1/10 = 0.01253.
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(1, 0.1);
  double squares = 0, claimed = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> samples(100);
    for (double& sample : samples) sample = normal(random);
    squares += std::pow(median(samples) - 1, 2) / 2000;
    claimed += relative_error_of_median(samples) / 2000;
  }
  require_close(0.01253, std::sqrt(squares), 0.05, "scatter of medians");
  require_close(0.01253, claimed, 0.05, "claimed error");
}

TEST_CASE("sampling stops") {
  const StoppingRule rule{5, 8, 0.01};
  CHECK_FALSE(rule.enough({}));
  CHECK_FALSE(rule.enough({1, 1, 1, 1}));
  CHECK(rule.enough({1, 1, 1, 1, 1}));
  CHECK_FALSE(rule.enough({1, 2, 3, 4, 5, 6, 7}));
  CHECK(rule.enough({1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_CASE("sizes are spread evenly in the logarithm, with both ends, in no order") {
  property("log spaced", [] {
    const int count = integer_between(3, 40);
    const auto sizes = log_spaced_sizes(1000, 1000000000, count, static_cast<std::uint64_t>(integer_between(0, 1000)));
    const std::set<std::int64_t> sorted(sizes.begin(), sizes.end());
    RC_ASSERT(static_cast<int>(sorted.size()) == count);
    RC_ASSERT(*sorted.begin() == 1000);
    RC_ASSERT(*sorted.rbegin() == 1000000000);
    // Neighbours are one step apart, each moved by a third at most.
    const double step = std::log(1e6) / (count - 1);
    for (auto at = sorted.begin(); std::next(at) != sorted.end(); ++at) {
      const double distance = std::log(static_cast<double>(*std::next(at)) / static_cast<double>(*at)) / step;
      RC_ASSERT((distance > 0.32 && distance < 1.68));
    }
  });
  const auto sizes = log_spaced_sizes(1000, 1000000000, 20, 1);
  CHECK_FALSE(std::is_sorted(sizes.begin(), sizes.end()));
}

TEST_CASE("samples of one size are pooled over starts, whose spread is separate") {
  std::vector<Record> records;
  add(records, "cast", "fp16-encode", 5e-6, 800e9, 1);
  const auto pooled = pool(records);
  const Pooled& one = pooled.at("cast/fp16-encode").begin()->second;
  CHECK(one.starts == 2);
  CHECK(one.samples == 10);
  CHECK(one.discarded == 2);
  const double time = 5e-6 + one.bytes / 800e9;
  // 0.99 and 1.01 times 0.98, 1, 1, 1, 1.02, sorted: 0.9702, 0.9898, 0.99, 0.99, 0.99, 1.0098, 1.01, 1.01, 1.01,
  // 1.0302. The median is (0.99 + 1.0098)/2 = 0.9999. The quartiles, at places 2.25 and 6.75, are 0.99 and 1.01. The
  // starts' medians are 0.99 and 1.01.
  require_close(0.9999 * time, one.median, 1e-9, "median");
  require_close(0.02 / 0.9999, one.iqr, 1e-9, "quartiles of single times");
  require_close(0.02 / 0.9999, one.start_spread, 1e-9, "spread of starts");
  require_close(0.5 * time, one.warm, 1e-9, "warm: the median of 0.495 and 0.505");
  CHECK(one.clock == 1.5e9);
}

TEST_CASE("the events' own time follows from one empty kernel and a chain of them") {
  // 3 us and 1.5 us a kernel: 4.5 us, and 99 us for 64.
  const EventOverhead overhead = event_overhead(4.5e-6, 99e-6, 64);
  require_close(3e-6, overhead.events, 1e-12, "events");
  require_close(1.5e-6, overhead.launch, 1e-12, "launch");
  // A chain takes longer than its kernels one by one: nothing is subtracted, and a kernel has its whole time.
  CHECK(event_overhead(2e-6, 256e-6, 64).events == 0);
  require_close(4e-6, event_overhead(2e-6, 256e-6, 64).launch, 1e-15, "launch: 256 us of 64");
  CHECK_THROWS_WITH(
      event_overhead(100e-6, 99e-6, 64),
      ContainsSubstring("one empty kernel takes 100 us and 64 of them 99 us") && ContainsSubstring("--fresh"));
  property("both come back", [] {
    const double events = positive_between(1e-8, 1e-4), launch = positive_between(1e-7, 1e-5),
                 n = integer_between(2, 100);
    const EventOverhead found = event_overhead(events + launch, events + n * launch, n);
    assert_close(events, found.events, 1e-9, "events");
    assert_close(launch, found.launch, 1e-9, "launch");
  });
}

TEST_CASE("the events' share is taken from each time, and leaves at least a launch") {
  const auto of = [](double repeats, std::vector<double> cold) {
    return Record{"a", "", "", 1, 0, 0, 0, std::move(cold), {5e-6}, 0, 0, true, true, repeats};
  };
  const auto taken = without_events({of(1, {10e-6, 4.4e-6, 1e-6}), of(4, {10e-6, 1e-6, 0.5e-6})}, {3e-6, 1.5e-6});
  const auto require = [&](const std::vector<double>& expected, const std::vector<double>& got) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) require_close(expected[i], got[i], 1e-12, "time");
  };
  require({7e-6, 1.5e-6, 1e-6}, taken[0].cold);  // 4.4 us would leave 1.4 us; 1 us is less than a launch already
  require({2e-6}, taken[0].warm);
  require({9.25e-6, 0.375e-6, 0.375e-6}, taken[1].cold);  // four runs a sample: 0.75 us of each, at least 0.375 us
  require({4.25e-6}, taken[1].warm);
  CHECK(without_events({of(1, {1e-6})}, {0, 1.5e-6})[0].cold == std::vector<double>{1e-6});  // nothing to take off
}

TEST_CASE("no time of a profile holds the events' own") {
  // The truth, and the samples with 3 us of events in each.
  const auto time = [](double bytes) { return 1.5e-6 + bytes / 800e9; };
  constexpr double kEvents = 3e-6;
  std::vector<Record> records;
  const auto one = [&](const std::string& name, const std::string& role, std::int64_t size, double bytes, double flops,
                       double seconds, double repeats = 1) {
    records.push_back(
        {name, role, role, size, 0, bytes, flops, {seconds + kEvents / repeats}, {}, 1.5e9, 0, true, true, repeats});
  };
  one(own::kSingle, "", 1, 0, 0, 1.5e-6);
  one(own::kLaunch, "", 1, 0, 0, 1.5e-6, own::kChain);
  one(own::kCopy, "", 1, 1e9, 0, 1e-3);
  for (const char* product : own::kProducts) one(product, "", 1, 0, 20e9, 1e-3);
  for (const std::int64_t size : log_spaced_sizes(1000, 1000000, 20, 1)) {
    const double bytes = 8.0 * static_cast<double>(size);
    one("cast/a", "cast", size, bytes, 0, time(bytes));
    one("radix-select/a", "radix-select", size, bytes, 0, time(bytes), 4);
  }
  WorkloadTable table;
  table.name = "one layer";
  table.batch = 8;
  table.layers = {{"layer", {}, {}, {}, Linear{64, 32, 1, false, false}}};
  const StepToMeasure step = step_of(table, ConvolutionPath::im2col);
  for (const kernels::Kernel* part : step.layers[0].parts())
    one(subject_name(*part), "", 8, part->bytes(8), part->flops(8), 2e-6);
  for (const std::int64_t size : log_spaced_sizes(1, 1000000, 20, 2)) {
    const double bytes = step.update.bytes(size);
    one(step.update.name(), update_kernel(table.optimizer, table.dtype), size, bytes, step.update.flops(size),
        time(bytes));
  }
  // Forward, the parameters' gradients and the update of 2048 elements.
  const double whole = 2 * 2e-6 + time(step.update.bytes(2048));
  one(step.name(), "", 8, 0, 0, whole);

  const DeviceProfile profile = read_back(make_profile("made-up", device(), records, 1, {step}));
  require_close(3e-6, profile.device->event_overhead->si(), 1e-5, "events");
  require_close(1.5e-6, profile.launch_overhead.value.si(), 1e-5, "launch");
  require_close(1e12, profile.memory_bandwidth.value.si(), 1e-5, "copy");
  require_close(20e12, profile.peaks[0].rate.si(), 1e-5, "product");
  REQUIRE(profile.kernels.size() == 3);
  for (const KernelEntry& kernel : profile.kernels) {
    require_close(1.5e-6, kernel.launch.si(), 1e-4, kernel.name + ": launch");
    require_close(800e9, kernel.bandwidth.si(), 1e-4, kernel.name + ": bandwidth");
  }
  REQUIRE(profile.layers.size() == 1);
  require_close(2e-6, profile.layers[0].forward->si(), 1e-5, "layer");
  REQUIRE(profile.checks.size() == 1);
  require_close(whole, profile.checks[0].measured.si(), 1e-5, "step, measured");
  require_close(whole, profile.checks[0].assembled.si(), 1e-4, "step, assembled");
  CHECK_THAT(profile_table(profile, records), ContainsSubstring("launch 1.5 us, events 3 us (taken from each sample)"));
}

TEST_CASE("a layer's spread comes from the part with the most scatter and the part with the largest start spread") {
  std::vector<Record> records;
  add_own(records);
  WorkloadTable table;
  table.name = "one layer";
  table.batch = 8;
  table.layers = {{"layer", {}, {}, {}, Linear{64, 32, 1, false, false}}};
  const StepToMeasure step = step_of(table, ConvolutionPath::im2col);
  const auto add_start = [&](const kernels::Kernel& part, int start, std::vector<double> cold) {
    records.push_back({subject_name(part),
                       "",
                       "",
                       8,
                       start,
                       part.bytes(8),
                       part.flops(8),
                       std::move(cold),
                       {},
                       1.5e9,
                       1,
                       true,
                       true});
  };
  for (const int start : {0, 1}) {
    const double other = start == 0 ? 2e-6 : 2.2e-6;
    add_start(*step.layers[0].forward, start, {other, other, other});
    add_start(*step.layers[0].weight_gradient, start, {3e-6, 4e-6, 5e-6});
  }
  const DeviceProfile profile = make_profile("made-up", device(), records, 1, {step});
  REQUIRE(profile.layers.size() == 1);
  const LayerEntry& layer = profile.layers[0];
  // Forward: the median of both starts is 2.1 us, and they are 0.2 us apart. Weights: 3, 3, 4, 4, 5, 5 us, quartiles at
  // places 1.25 and 3.75, 3.25 and 4.75 us of 4 us. Half of either: 1.1875 times 1.047619.
  require_close(2.1e-6, layer.forward->si(), 1e-5, "forward");
  require_close(1.5 / 4, layer.iqr.value(), 1e-5, "quartiles of the weights' gradients");
  require_close(0.2 / 2.1, layer.start_spread.value(), 1e-5, "starts of the forward pass");
  require_close(0.2440476, layer.spread.value(), 1e-5, "both");
  CHECK(layer.samples == 12);
  CHECK(layer.discarded == 4);
}

TEST_CASE("the profile reads back, and its entries price kernels") {
  std::vector<Record> records;
  add_own(records);
  add(records, "cast", "fp16-encode", 5e-6, 800e9, 1);
  add(records, "cast", "fp16-decode", 5e-6, 800e9, 2);
  add(records, "radix-select", "dgc", 20e-6, 400e9, 3);
  records.push_back({"norm/qsgd", "norm", "qsgd", 100, 0, 400, 200, {1e-3}, {}, 0, 0, true, true});
  const DeviceProfile made = make_profile("made-up", device(), records, 1);
  const DeviceProfile profile = read_back(made);
  CHECK(profile == made);
  CHECK(profile.schema_version == kProfileVersion);
  REQUIRE(profile.device);
  CHECK(profile.device->sm_clock == Hertz(1.5e9));
  CHECK(profile.device->memory_clock == Hertz(2.6e9));
  CHECK_FALSE(profile.device->event_overhead);  // they add nothing
  REQUIRE(profile.kernels.size() == 2);         // cast once, and norm has too few sizes
  const KernelEntry& cast = profile.kernels[0];
  CHECK(cast.name == "cast");
  CHECK(cast.evidence == Evidence::measured);
  CHECK(cast.knots.empty());
  CHECK(cast.samples == 2 * 24 * 2 * 5);
  CHECK(cast.discarded == 2 * 24 * 2);
  REQUIRE(cast.errors);
  CHECK(cast.errors->largest < 1e-4);
  CHECK(cast.errors->fitted + cast.errors->held_out >= 47);  // 24 sizes each, the ends in common
  REQUIRE(cast.spread);
  require_close(0.02 / 0.9999, *cast.iqr, 1e-4, "quartiles");
  // Half of 2 % between quartiles, half of 2 % between starts, and a fit without error: 1.01² - 1.
  require_close(1.01 * 1.01 - 1, *cast.spread, 2e-2, "spread");
  REQUIRE(cast.range);
  CHECK(cast.range->min == 8000_B);
  CHECK(cast.range->max == 800_MB);
  const CodecRates rates = codec_rates(profile, "top-k");
  // 8 MB at 800 GB/s take 10 us, and 5 us of launch, times the median 0.9999. At 400 GB/s they take 20 us, and 20.
  // Without an entry, they take 8 us at 1 TB/s, and 4.
  require_close(0.9999 * 15e-6, price({{"cast", 5_MB, 3_MB, {}}}, rates).si(), 1e-4, "cast");
  require_close(0.9999 * 40e-6, price({{"radix-select", 8_MB, {}, {}}}, rates).si(), 1e-4, "radix-select");
  require_close(12e-6, price({{"norm", 8_MB, {}, {}}}, rates).si(), 1e-5, "norm");
  const std::string table = profile_table(profile, records);
  CHECK_THAT(table, ContainsSubstring("cast") && ContainsSubstring("1000 GB/s") && ContainsSubstring("0.50"));
}

TEST_CASE("a role of several compressors has an entry for each beside that of all") {
  std::vector<Record> records;
  add_own(records);
  add(records, "decode", "qsgd", 5e-6, 800e9, 1);
  add(records, "decode", "3lc", 20e-6, 200e9, 2);
  add(records, "matrix-product", "powersgd-p", 5e-6, 800e9, 3);  // one compressor's products
  add(records, "matrix-product", "powersgd-decode", 5e-6, 800e9, 4);
  const DeviceProfile profile = make_profile("made-up", device(), records, 1);
  std::vector<std::string> names;
  for (const KernelEntry& kernel : profile.kernels) names.push_back(kernel.name);
  CHECK(names == std::vector<std::string>{"decode", "decode/3lc", "decode/qsgd", "matrix-product"});
  // Times are straight lines, so a method's entry is exact; that of all methods cannot be.
  for (const KernelEntry& kernel : profile.kernels) CHECK((kernel.errors->median < 1e-3) == (kernel.name != "decode"));
  // 8 MB: 10 us at 800 GB/s and 40 us at 200 GB/s, times the median 0.9999.
  require_close(0.9999 * 15e-6, price({{"decode", 8_MB, {}, {}}}, codec_rates(profile, "qsgd")).si(), 1e-3, "qsgd");
  require_close(0.9999 * 60e-6, price({{"decode", 8_MB, {}, {}}}, codec_rates(profile, "3lc")).si(), 1e-3, "3lc");
}

TEST_CASE("a bend in the samples is a knot in the profile, priced alike") {
  // Up to 1 MB at 200 GB/s, beyond at 1 TB/s.
  const auto time = [](double bytes) {
    return 5e-6 + std::min(bytes, 1e6) / 200e9 + std::max(0.0, bytes - 1e6) / 1e12;
  };
  std::vector<Record> records;
  add_own(records);
  for (const std::int64_t size : log_spaced_sizes(1000, 100000000, 30, 1)) {
    const double bytes = 8.0 * static_cast<double>(size);
    records.push_back({"cast/a", "cast", "a", size, 0, bytes, 0, {time(bytes)}, {}, 0, 0, true, true});
  }
  const DeviceProfile profile = read_back(make_profile("made-up", device(), records, 1));
  REQUIRE(profile.kernels.size() == 1);
  REQUIRE(profile.kernels[0].knots.size() == 1);
  require_close(1e6, profile.kernels[0].knots[0].bytes.si(), 0.02, "knot");
  const CodecRates rates = codec_rates(profile, "top-k");
  for (const double bytes : {1e4, 5e5, 2e6, 1e8})
    require_close(time(bytes), price({{"cast", Bytes(bytes), {}, {}}}, rates).si(), 0.01, "price");
}

TEST_CASE("a profile needs the device's own rates, and leaves out kernels that do not grow") {
  std::vector<Record> records;
  for (const char* missing : {own::kSingle, own::kLaunch, own::kCopy, own::kProducts[2]}) {
    std::vector<Record> most;
    add_own(most);
    std::erase_if(most, [&](const Record& record) { return record.name == missing; });
    CHECK_THROWS_WITH(make_profile("made-up", device(), most, 1),
                      ContainsSubstring(std::string("no samples of ") + missing));
  }
  add_own(records);
  CHECK(make_profile("made-up", device(), records, 1).kernels.empty());
  for (int size = 1; size <= 20; ++size)
    records.push_back({"cast/a", "cast", "a", size, 0, 8.0 * size, 0, {1.0 / size}, {}, 0, 0, true, true});
  for (int size = 1; size <= 20; ++size)
    records.push_back({"add/a", "add", "a", size, 0, 8.0 * size, 0, {1e-3 * size}, {}, 0, 0, true, true});
  const DeviceProfile profile = make_profile("made-up", device(), records, 1);
  REQUIRE(profile.kernels.size() == 1);
  CHECK(profile.kernels[0].name == "add");
  CHECK_THAT(profile.description, ContainsSubstring("; no entry for cast: the time does not grow"));
}
