// A kernel's or a message's time as a function of its size: t = m(bytes) + flops/peak, m continuous and piecewise
// linear.
#pragma once

#include <cstdint>
#include <vector>

namespace stepcast::calibrate {

/// A median time at one size.
struct Timing {
  std::int64_t size = 0;  ///< as the subject counts it; timings of one size are fitted or held out together
  double bytes = 0;
  double flops = 0;
  double seconds = 0;
};

/// m is linear from (0, launch) by the knots, and grows by `slope` after the last: launch + bytes·slope without knots.
struct PiecewiseFit {
  struct Knot {
    double bytes = 0, seconds = 0;
  };

  /// m = intercept + bytes·slope from one knot to the next, with standard errors, the knots taken as known.
  struct Segment {
    double from = 0, to = 0;  ///< bytes; 0 and infinity at the ends
    double intercept = 0, slope = 0;
    double intercept_error = 0, slope_error = 0;
  };

  double launch = 0;              ///< s
  std::vector<Knot> knots;        ///< ascending; time never falls
  double slope = 0;               ///< s/B after the last knot
  double seconds_per_flop = 0;    ///< 0: the arithmetic explains nothing that the bytes do not
  std::vector<Segment> segments;  ///< the same line by line
  int degrees_of_freedom = 0;
  double squares = 0;  ///< Σ (fitted/measured - 1)²

  [[nodiscard]] double seconds(double bytes, double flops = 0) const;
};

struct PiecewiseOptions {
  int most_segments = 3;
  int least_sizes = 3;  ///< distinct sizes in each segment
  bool fits_flops = true;
};

/// The least squares of the relative deviations over launch, slopes, time per operation (none negative), and knots.
/// Segments are added while they lower N·ln(squares/N) + k·ln N (BIC; k counts each knot's place too). Deviations below
/// 0.01 % count as none. Operations count only if they are not proportional to the bytes. All knots between measured
/// sizes are tried, then moved to the least squares.
/// @throws std::invalid_argument unless at least two sizes have positive times and time grows with bytes
PiecewiseFit fit_piecewise(const std::vector<Timing>& timings, const PiecewiseOptions& options = {});

struct Judged {
  PiecewiseFit fit;                                           ///< to the fitted part
  double median_error = 0, p90_error = 0, largest_error = 0;  ///< |fitted - measured|/measured of the part held out
  int fitted = 0, held_out = 0;                               ///< timings
};

/// Fits to 70 % of the sizes and judges by the rest. The rest is drawn at random, one size from each of as many
/// stretches of neighbours; the smallest and the largest size are always fitted.
/// @throws std::invalid_argument for fewer than ten sizes, and as fit_piecewise
Judged fit_and_judge(const std::vector<Timing>& timings, std::uint64_t seed, const PiecewiseOptions& options = {});

/// The quantile of Student's t that leaves 2.5 % above it, for this many degrees of freedom (Abramowitz and Stegun
/// 26.7.5). It is exact for 1 degree, off by 4 % at 2, by 0.3 % at 4, and by less above.
double t_quantile_975(int degrees_of_freedom);

}  // namespace stepcast::calibrate
