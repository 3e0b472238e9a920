// Fits constants of a suite's study to its measurements, by the least median of |error|.
//
// The median over a constant has kinks and several valleys. Therefore each constant in turn is tried on a grid over its
// range, with the others fixed. Golden sections then narrow it around the best. With several constants, rounds repeat
// until one finds nothing better.
//
// Errors after a fit flatter, because its constants have seen the measurements. The fit therefore also gives the errors
// of measurements that are left out in turn. Their values are the tried ones that fit the other measurements best.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "models/study/axis_range.hpp"

namespace stepcast {

/// |error| of each prediction at some values of the constants, always in the same order. Empty if these values are
/// impossible.
using ErrorsAt = std::function<std::vector<double>(const std::vector<double>& values)>;

struct Fit {
  std::vector<double> values;  ///< the constants, in order
  double median = 0.0;         ///< of |error| at these values
  /// The median |error| of measurements that are left out in turn, at the tried values that fit the others best. A
  /// single measurement leaves none to fit, so its |error| is taken.
  double median_left_out = 0.0;
  std::size_t measurements = 0;           ///< 0 if no tried value is possible; the rest is then void
  std::size_t tried = 0, impossible = 0;  ///< numbers of values
  /// For each constant, whether the median depends on it while the others are fixed.
  std::vector<bool> matters;
};

/// @pre there is a range and a prediction
Fit fit_least_median(const std::vector<AxisRange>& ranges, const ErrorsAt& errors_at);

/// A fitted value, rounded to four digits, since no constant is known better. Ends, values of a discrete range, and
/// values of a very narrow range stay unchanged.
double rounded(const AxisRange& range, double value);

}  // namespace stepcast
