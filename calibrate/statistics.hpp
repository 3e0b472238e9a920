// Statistics of repeated timings: quantiles, when to stop sampling, and which sizes to measure.
#pragma once

#include <cstdint>
#include <vector>

namespace stepcast::calibrate {

/// The q-quantile of the numbers, by linear interpolation between neighbours in ascending order.
/// @throws std::invalid_argument for no numbers
double quantile(std::vector<double> numbers, double q);
inline double median(const std::vector<double>& numbers) { return quantile(numbers, 0.5); }
/// Distance of the quartiles: 1.349 standard deviations where errors are normal.
double interquartile_range(const std::vector<double>& numbers);

/// Standard error of the median over the median: sqrt(π/2)·(IQR/1.349)/√N / median, normal errors assumed. Infinite for
/// fewer than two samples.
double relative_error_of_median(const std::vector<double>& samples);

/// When to stop sampling: at the most samples, or at the least and once the median is known well enough.
struct StoppingRule {
  int least = 10, most = 100;
  double relative_error = 0.01;
  [[nodiscard]] bool enough(const std::vector<double>& samples) const;
};

/// About `count` sizes from `low` to `high`, evenly in the logarithm, distinct, in random order. All but the ends are
/// moved at random by up to a third of the distance to a neighbour, to favour no power of two.
/// @pre 1 <= low < high, count >= 2
std::vector<std::int64_t> log_spaced_sizes(std::int64_t low, std::int64_t high, int count, std::uint64_t seed);

}  // namespace stepcast::calibrate
