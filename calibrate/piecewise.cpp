#include "calibrate/piecewise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "calibrate/least_squares.hpp"
#include "calibrate/statistics.hpp"

namespace stepcast::calibrate {
namespace {

constexpr double kFloor = 1e-4;  ///< relative deviations that no clock resolves
constexpr std::size_t kMostCandidates = 24;

void require_positive(const std::vector<Timing>& timings) {
  for (const Timing& timing : timings)
    if (!(timing.seconds > 0) || !(timing.bytes >= 0))
      throw std::invalid_argument("a time of " + std::to_string(timing.seconds) + " s at " +
                                  std::to_string(timing.bytes) + " B; allowed: above 0, at 0 B or more");
}

/// Whether operations are in no one proportion to bytes, so that both can be told apart.
bool tells_flops(const std::vector<Timing>& timings) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const Timing& timing : timings) {
    if (!(timing.bytes > 0)) continue;
    least = std::min(least, timing.flops / timing.bytes);
    most = std::max(most, timing.flops / timing.bytes);
  }
  return most > 1.1 * least;
}

/// Launch, the bytes within each segment, operations.
std::vector<double> row_of(const Timing& timing, const std::vector<double>& knots, bool with_flops) {
  std::vector<double> row = {1};
  double from = 0;
  for (const double knot : knots) {
    row.push_back(std::clamp(timing.bytes - from, 0.0, knot - from));
    from = knot;
  }
  row.push_back(std::max(0.0, timing.bytes - from));
  if (with_flops) row.push_back(timing.flops);
  return row;
}

/// The i-th line: intercept = launch + Σ_{j<i} slope_j·width_j - slope_i·(where it begins), so its variance follows
/// from the covariance of launch and slopes.
PiecewiseFit::Segment segment_of(const LeastSquares& solved, const std::vector<double>& knots, std::size_t i) {
  std::vector<double> weights(solved.coefficients.size(), 0);
  weights[0] = 1;
  double from = 0;
  for (std::size_t j = 0; j < i; ++j) {
    weights[1 + j] = knots[j] - from;
    from = knots[j];
  }
  weights[1 + i] -= from;
  double intercept = 0, variance = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    intercept += weights[j] * solved.coefficients[j];
    for (std::size_t k = 0; k < weights.size(); ++k) variance += weights[j] * weights[k] * solved.covariance[j][k];
  }
  return {from,
          i < knots.size() ? knots[i] : std::numeric_limits<double>::infinity(),
          intercept,
          solved.coefficients[1 + i],
          std::sqrt(std::max(variance, 0.0)),
          std::sqrt(solved.covariance[1 + i][1 + i])};
}

/// The fit with knots at these bytes; none where it is not determined or the last segment does not rise.
std::optional<PiecewiseFit> fit_with(const std::vector<Timing>& timings, const std::vector<double>& knots,
                                     bool with_flops) {
  std::vector<std::vector<double>> rows;
  std::vector<double> targets;
  for (const Timing& timing : timings) {
    rows.push_back(row_of(timing, knots, with_flops));
    targets.push_back(timing.seconds);
  }
  LeastSquares solved;
  try {
    solved = solve_relative(rows, targets);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  PiecewiseFit fit;
  const auto& x = solved.coefficients;
  fit.launch = x[0];
  double from = 0, seconds = fit.launch;
  for (std::size_t i = 0; i < knots.size(); ++i) {
    seconds += x[1 + i] * (knots[i] - from);
    from = knots[i];
    fit.knots.push_back({from, seconds});
  }
  fit.slope = x[1 + knots.size()];
  for (std::size_t i = 0; i <= knots.size(); ++i) fit.segments.push_back(segment_of(solved, knots, i));
  if (with_flops) fit.seconds_per_flop = x.back();
  fit.squares = solved.squares;
  fit.degrees_of_freedom = solved.degrees_of_freedom;
  if (!(fit.slope > 0)) return std::nullopt;
  return fit;
}

double criterion(const PiecewiseFit& fit, std::size_t timings, bool with_flops) {
  const auto n = static_cast<double>(timings);
  const double parameters = 2 + 2 * static_cast<double>(fit.knots.size()) + (with_flops ? 1 : 0);
  return n * std::log(std::max(fit.squares / n, kFloor * kFloor)) + parameters * std::log(n);
}

/// Places between neighbouring sizes, at most kMostCandidates, evenly among them.
std::vector<double> candidates(const std::vector<double>& bytes, int least_sizes) {
  std::vector<double> all;
  for (std::size_t i = static_cast<std::size_t>(least_sizes); i + static_cast<std::size_t>(least_sizes) <= bytes.size();
       ++i)
    if (bytes[i - 1] > 0) all.push_back(std::sqrt(bytes[i - 1] * bytes[i]));
  if (all.size() <= kMostCandidates) return all;
  std::vector<double> some;
  for (std::size_t i = 0; i < kMostCandidates; ++i) some.push_back(all[i * (all.size() - 1) / (kMostCandidates - 1)]);
  return some;
}

/// Whether each segment holds enough of the distinct sizes.
bool well_filled(const std::vector<double>& knots, const std::vector<double>& bytes, int least_sizes) {
  double from = -1;
  for (std::size_t i = 0; i <= knots.size(); ++i) {
    const double to = i < knots.size() ? knots[i] : std::numeric_limits<double>::infinity();
    const auto held =
        std::upper_bound(bytes.begin(), bytes.end(), to) - std::upper_bound(bytes.begin(), bytes.end(), from);
    if (held < least_sizes) return false;
    from = to;
  }
  return true;
}

/// Moves one knot after the other to where the squares are least, by golden section in the logarithm.
PiecewiseFit refined(PiecewiseFit fit, const std::vector<Timing>& timings, const std::vector<double>& bytes,
                     const PiecewiseOptions& options, bool with_flops) {
  std::vector<double> knots;
  for (const auto& knot : fit.knots) knots.push_back(knot.bytes);
  const double golden = (std::sqrt(5.0) - 1) / 2;
  for (int sweep = 0; sweep < 2; ++sweep)
    for (double& knot : knots) {
      const auto above = std::upper_bound(bytes.begin(), bytes.end(), knot);
      double low = std::log(*std::prev(above, std::min<std::ptrdiff_t>(2, above - bytes.begin()))),
             high = std::log(*std::min(above + 1, std::prev(bytes.end())));
      const auto squares_at = [&](double place) {
        const double before = std::exchange(knot, std::exp(place));
        const auto found = std::is_sorted(knots.begin(), knots.end()) && well_filled(knots, bytes, options.least_sizes)
                               ? fit_with(timings, knots, with_flops)
                               : std::nullopt;
        if (found && found->squares < fit.squares) {
          fit = *found;
          return found->squares;
        }
        knot = before;
        return found ? found->squares : std::numeric_limits<double>::infinity();
      };
      for (int i = 0; i < 24; ++i) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);
        if (squares_at(a) < squares_at(b)) high = b;
        else low = a;
      }
    }
  return fit;
}

/// The best fit with this many knots.
std::optional<PiecewiseFit> best_with(const std::vector<Timing>& timings, const std::vector<double>& bytes, int knots,
                                      const PiecewiseOptions& options, bool with_flops) {
  if (knots == 0) return fit_with(timings, {}, with_flops);
  const std::vector<double> places = candidates(bytes, options.least_sizes);
  std::optional<PiecewiseFit> best;
  const auto extend = [&](auto&& self, std::vector<double> chosen, std::size_t from) -> void {
    if (static_cast<int>(chosen.size()) == knots) {
      if (!well_filled(chosen, bytes, options.least_sizes)) return;
      if (auto found = fit_with(timings, chosen, with_flops); found && (!best || found->squares < best->squares))
        best = std::move(found);
      return;
    }
    for (std::size_t i = from; i < places.size(); ++i) {
      chosen.push_back(places[i]);
      self(self, chosen, i + 1);
      chosen.pop_back();
    }
  };
  extend(extend, {}, 0);
  return best ? std::optional(refined(*best, timings, bytes, options, with_flops)) : std::nullopt;
}

}  // namespace

double PiecewiseFit::seconds(double bytes, double flops) const {
  Knot from{0, launch};
  for (const Knot& knot : knots) {
    if (bytes < knot.bytes)
      return from.seconds + (bytes - from.bytes) / (knot.bytes - from.bytes) * (knot.seconds - from.seconds) +
             flops * seconds_per_flop;
    from = knot;
  }
  return from.seconds + (bytes - from.bytes) * slope + flops * seconds_per_flop;
}

PiecewiseFit fit_piecewise(const std::vector<Timing>& timings, const PiecewiseOptions& options) {
  require_positive(timings);
  std::set<double> distinct;
  for (const Timing& timing : timings) distinct.insert(timing.bytes);
  if (distinct.size() < 2) throw std::invalid_argument("a launch time and a rate need timings of two sizes or more");
  const std::vector<double> bytes(distinct.begin(), distinct.end());
  std::optional<PiecewiseFit> best;
  double lowest = std::numeric_limits<double>::infinity();
  for (const bool with_flops : {false, true}) {
    if (with_flops && !(options.fits_flops && tells_flops(timings))) continue;
    for (int knots = 0; knots < options.most_segments; ++knots) {
      auto found = best_with(timings, bytes, knots, options, with_flops);
      if (!found) continue;
      if (const double value = criterion(*found, timings.size(), with_flops); value < lowest) {
        lowest = value;
        best = std::move(found);
      }
    }
  }
  if (!best) throw std::invalid_argument("the time does not grow with the bytes: larger sizes are needed");
  return *best;
}

Judged fit_and_judge(const std::vector<Timing>& timings, std::uint64_t seed, const PiecewiseOptions& options) {
  std::set<std::int64_t> distinct;
  for (const Timing& timing : timings) distinct.insert(timing.size);
  if (distinct.size() < 10)
    throw std::invalid_argument("a fit needs ten sizes or more, there are " + std::to_string(distinct.size()));
  const std::vector<std::int64_t> inner(std::next(distinct.begin()), std::prev(distinct.end()));
  const std::size_t count = distinct.size() - static_cast<std::size_t>(0.7 * static_cast<double>(distinct.size()));
  std::mt19937_64 random(seed);
  std::set<std::int64_t> judging;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i * inner.size() / count, last = (i + 1) * inner.size() / count - 1;
    judging.insert(inner[std::uniform_int_distribution<std::size_t>(first, last)(random)]);
  }
  std::vector<Timing> fitted, held_out;
  for (const Timing& timing : timings) (judging.count(timing.size) > 0 ? held_out : fitted).push_back(timing);
  Judged result;
  result.fit = fit_piecewise(fitted, options);
  std::vector<double> errors;
  for (const Timing& timing : held_out)
    errors.push_back(std::abs(result.fit.seconds(timing.bytes, timing.flops) - timing.seconds) / timing.seconds);
  result.median_error = median(errors);
  result.p90_error = quantile(errors, 0.9);
  result.largest_error = *std::max_element(errors.begin(), errors.end());
  result.fitted = static_cast<int>(fitted.size());
  result.held_out = static_cast<int>(held_out.size());
  return result;
}

double t_quantile_975(int degrees_of_freedom) {
  if (degrees_of_freedom < 1) return std::numeric_limits<double>::infinity();
  if (degrees_of_freedom == 1) return 12.706;
  const double v = degrees_of_freedom, z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

}  // namespace stepcast::calibrate
