// Fits constants to measurements, by least squares of r = ln(forecast/measured time).
//
// Each constant is first tried on a grid over its range, in turn. Levenberg and Marquardt's method (Eigen) goes on from
// the best. With n rows, k constants, the Jacobian J = dr/dv at the fit and s² = Σr²/(n - k), the constants have the
// covariance s²(JᵀJ)⁻¹ and Student's 95 % intervals with n - k degrees of freedom. This takes rows for independent and
// the forecast for nearly linear in the constants.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "models/study/axis_range.hpp"

namespace stepcast {

/// r of each trained row at some values of the constants, always in the same order. Empty if the values are impossible.
using ResidualsAt = std::function<std::vector<double>(const std::vector<double>& values)>;

struct FittedConstant {
  double value = 0.0;
  std::optional<double> low, high;  ///< the 95 % interval, within the range. Empty if the rows do not determine it: the
                                    ///< interval is as wide as the range, or there are no more rows than constants
  bool at_end = false;              ///< the value is an end of its range
  double moves =
      0.0;  ///< root mean square of the change of r between the ends of its range, the others at their values
};

struct Fit {
  std::vector<FittedConstant> constants;  ///< in order
  double rms = 0.0;                       ///< root mean square of r
  double spread = 0.0;                    ///< s; 0 if there are no more rows than constants
  std::size_t rows = 0, tried = 0;        ///< numbers of rows, and of values
};

/// Empty if no tried value is possible.
/// @pre there is a range, and none is discrete
std::optional<Fit> fit_least_squares(const std::vector<AxisRange>& ranges, const ResidualsAt& residuals_at);

/// A fitted value, rounded to four digits, since no constant is known better. Ends and values of a very narrow range
/// stay unchanged.
double rounded(const AxisRange& range, double value);

}  // namespace stepcast
