// Statistics on numbers whose truth is known, and the profile that comes of it, read by the scenario's own reader.
#include <cmath>
#include <random>
#include <set>

#include "calibrate/profile.hpp"
#include "calibrate/report.hpp"
#include "calibrate/statistics.hpp"
#include "models/compressor/codec_rates.hpp"
#include "models/scenario/check_profile.hpp"
#include "models/scenario/profile.hpp"
#include "models/scenario/reader.hpp"
#include "models/scenario/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;
using namespace stepcast::calibrate;

namespace {

/// Samples of one kernel at 24 sizes and in two starts at launch + bytes/bandwidth, 8 bytes an element; those of the
/// second start are 2 % longer.
void add(std::vector<Record>& records, const std::string& pass, const std::string& method, double launch, double bandwidth, std::uint64_t seed) {
  for (const std::int64_t size : log_spaced_sizes(1000, 100000000, 24, seed))
    for (int start = 0; start < 2; ++start) {
      const double bytes = 8.0 * static_cast<double>(size), time = (launch + bytes / bandwidth) * (start == 0 ? 0.99 : 1.01);
      records.push_back({pass + "/" + method, pass, method, size, start, bytes, 0, {0.98 * time, time, time, time, 1.02 * time}, {0.5 * time}, 1.5e9, 1, true, true});
    }
}

void add_own(std::vector<Record>& records) {
  const auto one = [&](const char* name, double bytes, double flops, double seconds) { records.push_back({name, "", "", 1, 0, bytes, flops, {seconds}, {}, 1.5e9, 0, true, true}); };
  one(own::kLaunch, 0, 0, 4e-6);
  one(own::kCopy, 1e9, 0, 1e-3);                 // 1 TB/s
  one(own::kProducts[0], 0, 20e9, 1e-3);         // 20 TFLOPS
  for (int i = 1; i < 4; ++i) one(own::kProducts[i], 0, 200e9, 1e-3);
}

MeasuredDevice device() { return {"A made-up device", "9.0", "13.0", "13.0", {}, Hertz(2.6e9), "none", "abc", "2026-11-21"}; }

/// As the scenario's reader takes it from the file.
DeviceProfile read_back(const DeviceProfile& profile) {
  const Json document = Json::parse(write_value(profile).dump());
  DeviceProfile read;
  std::vector<Fault> faults;
  read_value(document, "", read, any, faults);
  check_kernels(read, "", faults);
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

TEST_CASE("samples of one size are pooled over starts, whose spread is told apart") {
  std::vector<Record> records;
  add(records, "cast", "fp16-encode", 5e-6, 800e9, 1);
  const auto pooled = pool(records);
  const Pooled& one = pooled.at("cast/fp16-encode").begin()->second;
  CHECK(one.starts == 2);
  CHECK(one.samples == 10);
  CHECK(one.discarded == 2);
  const double time = 5e-6 + one.bytes / 800e9;
  // Of 0.99 and 1.01 times 0.98, 1, 1, 1, 1.02, sorted: 0.9702, 0.9898, 0.99, 0.99, 0.99, 1.0098, 1.01, 1.01, 1.01, 1.0302:
  // median (0.99 + 1.0098)/2 = 0.9999; quartiles at places 2.25 and 6.75, 0.99 and 1.01; the starts' medians are 0.99, 1.01.
  require_close(0.9999 * time, one.median, 1e-9, "median");
  require_close(0.02 / 0.9999, one.iqr, 1e-9, "quartiles of single times");
  require_close(0.02 / 0.9999, one.start_spread, 1e-9, "spread of starts");
  require_close(0.5 * time, one.warm, 1e-9, "warm: the median of 0.495 and 0.505");
  CHECK(one.clock == 1.5e9);
}

TEST_CASE("the profile reads back, and its entries price passes") {
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
  REQUIRE(profile.kernels.size() == 2);  // cast once, and norm has too few sizes
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
  const CodecRates rates = codec_rates(profile);
  // 8 MB at 800 GB/s: 10 us, and 5 us of launch, times the median 0.9999; at 400 GB/s 20 us and 20; without an entry at
  // 1 TB/s 8 us and 4.
  require_close(0.9999 * 15e-6, price({{"cast", 5_MB, 3_MB, {}}}, rates).si(), 1e-4, "cast");
  require_close(0.9999 * 40e-6, price({{"radix-select", 8_MB, {}, {}}}, rates).si(), 1e-4, "radix-select");
  require_close(12e-6, price({{"norm", 8_MB, {}, {}}}, rates).si(), 1e-5, "norm");
  const std::string table = profile_table(profile, records);
  CHECK_THAT(table, ContainsSubstring("cast") && ContainsSubstring("1000 GB/s") && ContainsSubstring("0.50"));
}

TEST_CASE("a bend in the samples is a knot in the profile, priced alike") {
  // Up to 1 MB at 200 GB/s, beyond at 1 TB/s.
  const auto time = [](double bytes) { return 5e-6 + std::min(bytes, 1e6) / 200e9 + std::max(0.0, bytes - 1e6) / 1e12; };
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
  const CodecRates rates = codec_rates(profile);
  for (const double bytes : {1e4, 5e5, 2e6, 1e8}) require_close(time(bytes), price({{"cast", Bytes(bytes), {}, {}}}, rates).si(), 0.01, "price");
}

TEST_CASE("a profile needs the device's own rates, and passes that grow") {
  std::vector<Record> records;
  CHECK_THROWS_WITH(make_profile("made-up", device(), records, 1), ContainsSubstring("device/product-fp32"));
  add_own(records);
  CHECK(make_profile("made-up", device(), records, 1).kernels.empty());
  for (int size = 1; size <= 20; ++size) records.push_back({"cast/a", "cast", "a", size, 0, 8.0 * size, 0, {1.0 / size}, {}, 0, 0, true, true});
  CHECK_THROWS_WITH(make_profile("made-up", device(), records, 1), ContainsSubstring("pass \"cast\": the time does not grow"));
}
