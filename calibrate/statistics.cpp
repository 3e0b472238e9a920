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

double interquartile_range(const std::vector<double>& numbers) {
  return quantile(numbers, 0.75) - quantile(numbers, 0.25);
}

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
  for (int i = 1; i < count - 1; ++i)
    sizes.push_back(std::clamp<std::int64_t>(
        std::llround(static_cast<double>(low) * std::exp(ratio * (i + jitter(random)))), low, high));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::shuffle(sizes.begin(), sizes.end(), random);
  return sizes;
}

}  // namespace stepcast::calibrate
