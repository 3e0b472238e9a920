#include "calibrate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string>

namespace stepcast::calibrate {

double quantile(std::vector<double> numbers, double q) {
  if (numbers.empty()) throw std::invalid_argument("a quantile of no numbers");
  std::sort(numbers.begin(), numbers.end());
  const double place = q * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double high = numbers[std::min(below + 1, numbers.size() - 1)];
  return numbers[below] + (place - static_cast<double>(below)) * (high - numbers[below]);
}

double interquartile_range(const std::vector<double>& numbers) { return quantile(numbers, 0.75) - quantile(numbers, 0.25); }

double relative_error_of_median(const std::vector<double>& samples) {
  if (samples.size() < 2) return std::numeric_limits<double>::infinity();
  const double deviation = interquartile_range(samples) / 1.349;
  return std::sqrt(std::numbers::pi / 2) * deviation / std::sqrt(static_cast<double>(samples.size())) / median(samples);
}

bool StoppingRule::enough(const std::vector<double>& samples) const {
  const int count = static_cast<int>(samples.size());
  return count >= most || (count >= least && relative_error_of_median(samples) <= relative_error);
}

std::vector<std::int64_t> log_spaced_sizes(std::int64_t low, std::int64_t high, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> jitter(-1.0 / 3, 1.0 / 3);
  const double ratio = std::log(static_cast<double>(high) / static_cast<double>(low)) / (count - 1);
  std::vector<std::int64_t> sizes = {low, high};
  for (int i = 1; i < count - 1; ++i) sizes.push_back(std::clamp<std::int64_t>(std::llround(static_cast<double>(low) * std::exp(ratio * (i + jitter(random)))), low, high));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::shuffle(sizes.begin(), sizes.end(), random);
  return sizes;
}

RateFit fit_rate(const std::vector<Timing>& timings) {
  // Minimise Σ (launch·u + slope·v - 1)², u = 1/t, v = bytes/t.
  double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
  for (const Timing& timing : timings) {
    if (!(timing.seconds > 0)) throw std::invalid_argument("a time of " + std::to_string(timing.seconds) + " s; allowed: above 0");
    const double u = 1 / timing.seconds, v = timing.bytes / timing.seconds;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u1 += u;
    v1 += v;
  }
  const double determinant = uu * vv - uv * uv;
  if (timings.size() < 2 || !(determinant > 1e-12 * uu * vv)) throw std::invalid_argument("a launch time and a rate need timings of two sizes or more");
  double launch = (u1 * vv - v1 * uv) / determinant, slope = (v1 * uu - u1 * uv) / determinant;
  if (launch < 0) {
    launch = 0;
    slope = v1 / vv;
  }
  if (!(slope > 0)) throw std::invalid_argument("the time does not grow with the bytes: larger sizes are needed");
  return {launch, 1 / slope};
}

HeldOut fit_and_judge(std::vector<Timing> timings, std::uint64_t seed) {
  if (timings.size() < 10) throw std::invalid_argument("a fit needs ten timings or more, there are " + std::to_string(timings.size()));
  std::sort(timings.begin(), timings.end(), [](const Timing& a, const Timing& b) { return a.bytes < b.bytes; });
  std::swap(timings[1], timings.back());  // the smallest and the largest come first and stay
  std::mt19937_64 random(seed);
  std::shuffle(timings.begin() + 2, timings.end(), random);
  const auto fitted = static_cast<std::ptrdiff_t>(0.7 * static_cast<double>(timings.size()));
  HeldOut result;
  result.fit = fit_rate({timings.begin(), timings.begin() + fitted});
  std::vector<double> errors;
  for (auto timing = timings.begin() + fitted; timing != timings.end(); ++timing) errors.push_back(std::abs(result.fit.seconds(timing->bytes) - timing->seconds) / timing->seconds);
  result.median_error = median(errors);
  result.largest_error = *std::max_element(errors.begin(), errors.end());
  result.fitted = static_cast<int>(fitted);
  result.held_out = static_cast<int>(errors.size());
  return result;
}

}  // namespace stepcast::calibrate
