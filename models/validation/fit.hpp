// Constants of a suite's study set to what its measurements say: the values at which the median |error| is the least.
//
// The median of |error| over a constant has kinks and several valleys, so each constant in turn is tried on a grid over
// its range, the others held, and then closed in on by golden sections around the best; round after round where there
// are several, until one finds nothing better. Errors after a fit flatter: its constants have seen the measurements.
// So beside them stands what comes out where each measurement in turn is left out, the values tried being those at which
// the others' median is the least.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "models/study/axis_range.hpp"

namespace stepcast {

/// |error| of each prediction where the constants have some values, always in the same order; none where these values
/// are impossible.
using ErrorsAt = std::function<std::vector<double>(const std::vector<double>& values)>;

struct Fit {
  std::vector<double> values;  ///< of the constants, in order
  double median = 0.0;         ///< of |error| there
  /// Of the |errors| of measurements that were left out, one by one, at the values that fit the others best among those
  /// tried; of a single measurement, which leaves none to fit, its own.
  double median_left_out = 0.0;
  std::size_t measurements = 0;           ///< 0 where no value tried is possible, and the rest says nothing
  std::size_t tried = 0, impossible = 0;  ///< values, the impossible ones among them
  /// Of each constant, whether the median is another at some value than at another, all else being equal.
  std::vector<bool> matters;
};

/// @pre there is a range and a prediction
Fit fit_least_median(const std::vector<AxisRange>& ranges, const ErrorsAt& errors_at);

/// A value found in a range, to the four digits to which no constant is known better. An end, a value of a discrete
/// range and one of a range so narrow that its digits come later stay as they are.
double rounded(const AxisRange& range, double value);

}  // namespace stepcast
