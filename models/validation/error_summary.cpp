#include "models/validation/error_summary.hpp"

#include <algorithm>
#include <cmath>

namespace stepcast {
namespace {

/// The value with the share q of the sorted values below it: between two values, on the line that joins them.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double above = sorted[std::min(below + 1, sorted.size() - 1)];
  return std::lerp(sorted[below], above, at - static_cast<double>(below));
}

}  // namespace

ErrorSummary summary_of(std::vector<double> errors) {
  ErrorSummary summary;
  summary.count = errors.size();
  if (errors.empty()) return summary;
  std::sort(errors.begin(), errors.end());  // the sum is then the same in any order
  double logarithms = 0;
  for (double& error : errors) {
    logarithms += std::log1p(error);
    error = std::abs(error);
  }
  std::sort(errors.begin(), errors.end());
  summary.median = quantile(errors, 0.5);
  summary.p90 = quantile(errors, 0.9);
  summary.bias = std::expm1(logarithms / static_cast<double>(errors.size()));
  return summary;
}

}  // namespace stepcast
