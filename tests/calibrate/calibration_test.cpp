// Statistics on numbers whose truth is known, and the profile that comes of it, read by the scenario's own reader.
#include <cmath>
#include <random>
#include <set>

#include "calibrate/profile.hpp"
#include "models/compressor/codec_rates.hpp"
#include "models/scenario/profile.hpp"
#include "models/scenario/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;
using namespace stepcast::calibrate;

namespace {

/// 40 sizes from 1 kB to 1 GB at launch + bytes/bandwidth, with relative errors of a normal distribution.
std::vector<Timing> synthetic(double launch, double bandwidth, double noise, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<Timing> timings;
  for (const std::int64_t bytes : log_spaced_sizes(1000, 1000000000, 40, seed))
    timings.push_back({static_cast<double>(bytes), (launch + static_cast<double>(bytes) / bandwidth) * (1 + normal(random))});
  return timings;
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

TEST_CASE("a fit finds launch and bandwidth") {
  property("exactly, of exact timings", [] {
    // From where launch is invisible at 1 GB to where it is a hundred times the least transfer.
    const double launch = positive_between(1e-6, 1e-4), bandwidth = positive_between(1e9, 1e12);
    const RateFit fit = fit_rate(synthetic(launch, bandwidth, 0, static_cast<std::uint64_t>(integer_between(0, 1000))));
    assert_close(launch, fit.launch, 1e-6, "launch");
    assert_close(bandwidth, fit.bandwidth, 1e-6, "bandwidth");
  });
  // Noise of 2 % on 28 of 40 timings: each parameter rests on about half of them, so its error is near 2 %/√14 = 0.5 %.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const HeldOut judged = fit_and_judge(synthetic(8e-6, 800e9, 0.02, seed), seed);
    require_close(8e-6, judged.fit.launch, 0.025, "launch");
    require_close(800e9, judged.fit.bandwidth, 0.025, "bandwidth");
    CHECK(judged.fitted == 28);
    CHECK(judged.held_out == 12);
    // The median of |normal| is 0.674 deviations: 1.3 %; of twelve it stays within a factor of two or so.
    CHECK(judged.median_error > 0.004);
    CHECK(judged.median_error < 0.03);
    CHECK(judged.largest_error >= judged.median_error);
  }
}

TEST_CASE("a fit never goes below zero, and refuses what has no slope") {
  // 1 ms at 1 MB and 4 ms at 2 MB: a straight line meets zero bytes at -2 ms. With launch 0 the least squares are
  // slope = Σv/Σv², v = bytes/t = 1e9 and 0.5e9: 1.5e9/1.25e18, a bandwidth of 0.8333 GB/s.
  const RateFit fit = fit_rate({{1e6, 1e-3}, {2e6, 4e-3}});
  CHECK(fit.launch == 0);
  require_close(1.25e18 / 1.5e9, fit.bandwidth, 1e-12, "bandwidth");
  CHECK_THROWS_AS(fit_rate({{1e6, 1e-3}}), std::invalid_argument);
  CHECK_THROWS_AS(fit_rate({{1e6, 1e-3}, {1e6, 2e-3}}), std::invalid_argument);
  CHECK_THROWS_AS(fit_rate({{1e6, 2e-3}, {2e6, 1e-3}}), std::invalid_argument);
  CHECK_THROWS_AS(fit_rate({{1e6, 0}, {2e6, 1e-3}}), std::invalid_argument);
  CHECK_THROWS_AS(fit_and_judge({{1e6, 1e-3}, {2e6, 2e-3}}, 1), std::invalid_argument);
}

TEST_CASE("the profile reads back, and its entries price passes") {
  DeviceFacts facts{"device 2026-11-21", "synthetic", 4e-6, 1e12, 20e12, 200e12};
  const std::vector<KernelTimings> timings = {{"cast", "fp16-encode", synthetic(5e-6, 800e9, 0, 1)},
                                              {"cast", "fp16-decode", synthetic(5e-6, 800e9, 0, 2)},
                                              {"radix-select", "top-k", synthetic(20e-6, 400e9, 0, 3)},
                                              {"norm", "qsgd", {{1e6, 1e-3}}}};
  const Json document = profile_document(facts, timings, 1);
  DeviceProfile profile;
  std::vector<Fault> faults;
  read_value(document, "", profile, any, faults);
  for (const Fault& fault : faults) UNSCOPED_INFO(to_string(fault));
  REQUIRE(faults.empty());
  REQUIRE(profile.kernels.size() == 2);  // cast once, and norm has too few timings
  for (const KernelEntry& kernel : profile.kernels) CHECK(kernel.evidence == Evidence::measured);
  const CodecRates rates = codec_rates(profile);
  // 8 MB at 800 GB/s: 10 us, and 5 us of launch; at 400 GB/s 20 us and 20; without an entry at 1 TB/s 8 us and 4.
  require_close(15e-6, price({{"cast", 5_MB, 3_MB, {}}}, rates).si(), 1e-5, "cast");
  require_close(40e-6, price({{"radix-select", 8_MB, {}, {}}}, rates).si(), 1e-5, "radix-select");
  require_close(12e-6, price({{"norm", 8_MB, {}, {}}}, rates).si(), 1e-5, "norm");
}
