#include "models/validation/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include <boost/math/statistics/univariate_statistics.hpp>
#include <fmt/format.h>

namespace stepcast {
namespace {

constexpr std::size_t kGrid = 9;
constexpr int kSections = 12;  // these leave 0.3 % of two grid steps
constexpr int kRounds = 4;

/// Infinite if the values are impossible.
double median_of(std::vector<double> sizes) {
  return sizes.empty() ? std::numeric_limits<double>::infinity() : boost::math::statistics::median(sizes);
}

/// The tried values, each once.
class Trials {
 public:
  explicit Trials(const ErrorsAt& errors_at) : errors_at_(errors_at) {}

  double median_at(const std::vector<double>& values) {
    const auto known = errors_.find(values);
    return median_of(known != errors_.end() ? known->second
                                            : errors_.emplace(values, errors_at_(values)).first->second);
  }

  [[nodiscard]] const std::map<std::vector<double>, std::vector<double>>& all() const { return errors_; }

 private:
  const ErrorsAt& errors_at_;
  std::map<std::vector<double>, std::vector<double>> errors_;
};

/// Moves one constant to the value with the least median.
void improve(std::size_t which, const AxisRange& range, Trials& trials, std::vector<double>& best) {
  const auto median_at = [&](double value) {
    std::vector<double> values = best;
    values[which] = value;
    return trials.median_at(values);
  };
  const std::vector<double> grid = grid_values(range, kGrid);
  std::size_t lowest = 0;
  for (std::size_t i = 1; i < grid.size(); ++i)
    if (median_at(grid[i]) < median_at(grid[lowest])) lowest = i;
  std::map<double, double> found{{median_at(best[which]), best[which]}};  // value by median
  found.emplace(median_at(grid[lowest]), grid[lowest]);
  if (!range.is_discrete()) {
    const double section = (std::sqrt(5.0) - 1) / 2;
    double low = range.coordinate(grid[lowest > 0 ? lowest - 1 : 0]),
           high = range.coordinate(grid[std::min(lowest + 1, grid.size() - 1)]);
    for (int i = 0; i < kSections; ++i) {
      const double left = range.value_at(high - section * (high - low)),
                   right = range.value_at(low + section * (high - low));
      const double at_left = median_at(left), at_right = median_at(right);
      found.emplace(at_left, left);
      found.emplace(at_right, right);
      if (at_left <= at_right) high = range.coordinate(right);
      else low = range.coordinate(left);
    }
  }
  best[which] = found.begin()->second;
}

/// The median of errors that were left out.
double left_out(const Trials& trials, std::size_t measurements) {
  std::vector<double> sizes;
  for (std::size_t i = 0; i < measurements; ++i) {
    const std::vector<double>* best = nullptr;
    double least = 0;
    for (const auto& [values, errors] : trials.all()) {
      if (errors.empty()) continue;
      std::vector<double> others = errors;
      if (others.size() > 1) others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      if (const double median = median_of(std::move(others)); !best || median < least) {
        least = median;
        best = &errors;
      }
    }
    sizes.push_back((*best)[i]);
  }
  return median_of(std::move(sizes));
}

/// Whether two possible values of one constant have different medians, with the others held fixed.
bool matters(std::size_t which, const Trials& trials) {
  std::map<std::vector<double>, double> medians;  // the first, by the other constants' values
  for (const auto& [values, errors] : trials.all()) {
    if (errors.empty()) continue;
    std::vector<double> others = values;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(which));
    const double median = median_of(errors);
    if (medians.emplace(std::move(others), median).first->second != median) return true;
  }
  return false;
}

}  // namespace

Fit fit_least_median(const std::vector<AxisRange>& ranges, const ErrorsAt& errors_at) {
  Trials trials(errors_at);
  std::vector<double> best;
  for (const AxisRange& range : ranges) {
    const std::vector<double> grid = grid_values(range, kGrid);
    best.push_back(grid[grid.size() / 2]);
  }
  double median = trials.median_at(best);
  for (int round = 0; round < (ranges.size() > 1 ? kRounds : 1); ++round) {
    const double before = median;
    for (std::size_t i = 0; i < ranges.size(); ++i) improve(i, ranges[i], trials, best);
    median = trials.median_at(best);
    if (!(median < before)) break;
  }
  Fit fit;
  fit.values = best;
  fit.median = median;
  fit.tried = trials.all().size();
  for (const auto& [values, errors] : trials.all()) {
    fit.impossible += errors.empty();
    fit.measurements = std::max(fit.measurements, errors.size());
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) fit.matters.push_back(matters(i, trials));
  if (fit.measurements > 0) fit.median_left_out = left_out(trials, fit.measurements);
  return fit;
}

double rounded(const AxisRange& range, double value) {
  if (range.is_discrete() || value == range.from || value == range.to) return value;
  const double digits = std::stod(fmt::format("{:.4g}", value));
  if (std::abs(digits - value) > (range.to - range.from) / 1000) return value;
  return std::clamp(digits, range.from, range.to);
}

}  // namespace stepcast
