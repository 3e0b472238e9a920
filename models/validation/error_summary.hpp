// How far a set of forecasts is off, in four numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace stepcast {

/// Summary of errors e = forecast/measured time - 1. All but the count are empty without errors.
struct ErrorSummary {
  std::size_t count = 0;
  std::optional<double> median;  ///< of |e|: the middle one, or the mean of the middle two of an even number
  std::optional<double>
      p90;  ///< of |e|: nine of ten are not above it; between two of them, on the line that joins them
  /// exp(mean of ln(1 + e)) - 1: the geometric mean of forecast over measured time, minus 1. Twice too slow and twice too
  /// fast cancel. Negative: too fast.
  std::optional<double> bias;
};
ErrorSummary summary_of(std::vector<double> errors);

}  // namespace stepcast
