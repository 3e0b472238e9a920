#include "models/validation/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <string>

#include <Eigen/Dense>
#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

namespace stepcast {
namespace {

constexpr std::size_t kGrid = 9;
constexpr int kGridRounds = 2;
constexpr int kMostEvaluations = 200;

double squares(const std::vector<double>& residuals) {
  double sum = 0;
  for (const double r : residuals) sum += r * r;
  return residuals.empty() ? std::numeric_limits<double>::infinity() : sum;
}

/// The tried values, each once.
class Trials {
 public:
  explicit Trials(const ResidualsAt& residuals_at) : residuals_at_(residuals_at) {}

  const std::vector<double>& at(const std::vector<double>& values) {
    auto known = all_.find(values);
    if (known == all_.end()) known = all_.emplace(values, residuals_at_(values)).first;
    rows_ = std::max(rows_, known->second.size());
    return known->second;
  }
  [[nodiscard]] std::size_t tried() const { return all_.size(); }
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  const ResidualsAt& residuals_at_;
  std::map<std::vector<double>, std::vector<double>> all_;
  std::size_t rows_ = 0;
};

std::vector<double> best_of_grids(const std::vector<AxisRange>& ranges, Trials& trials) {
  std::vector<std::vector<double>> grids;
  std::vector<double> best;
  for (const AxisRange& range : ranges) {
    grids.push_back(grid_values(range, kGrid));
    best.push_back(grids.back()[kGrid / 2]);
  }
  for (int round = 0; round < (ranges.size() > 1 ? kGridRounds : 1); ++round)
    for (std::size_t i = 0; i < ranges.size(); ++i)
      for (const double value : grids[i]) {
        std::vector<double> other = best;
        other[i] = value;
        if (squares(trials.at(other)) < squares(trials.at(best))) best = other;
      }
  return best;
}

/// The residuals over unbounded angles: a constant is at `from` for 0 and at `to` for π, by (1 - cos)/2 of its range's
/// coordinate. Impossible values are far off in every row.
struct OverAngles {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const std::vector<AxisRange>* ranges;
  Trials* trials;

  [[nodiscard]] int inputs() const { return static_cast<int>(ranges->size()); }
  [[nodiscard]] int values() const { return static_cast<int>(trials->rows()); }

  [[nodiscard]] std::vector<double> values_at(const Eigen::VectorXd& angles) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < ranges->size(); ++i) {
      const AxisRange& range = (*ranges)[i];
      const double from = range.coordinate(range.from), to = range.coordinate(range.to);
      const double share = (1 - std::cos(angles[static_cast<Eigen::Index>(i)])) / 2;
      values.push_back(std::clamp(range.value_at(from + share * (to - from)), range.from, range.to));
    }
    return values;
  }
  [[nodiscard]] Eigen::VectorXd angles_at(const std::vector<double>& values) const {
    Eigen::VectorXd angles(inputs());
    for (int i = 0; i < inputs(); ++i) {
      const AxisRange& range = (*ranges)[i];
      const double from = range.coordinate(range.from), to = range.coordinate(range.to);
      // Away from the ends, where the forecast does not depend on the angle.
      const double share = std::clamp((range.coordinate(values[i]) - from) / (to - from), 0.01, 0.99);
      angles[i] = std::acos(1 - 2 * share);
    }
    return angles;
  }
  int operator()(const Eigen::VectorXd& angles, Eigen::VectorXd& residuals) const {
    constexpr double kFar = 10;
    const std::vector<double>& found = trials->at(values_at(angles));
    for (int i = 0; i < values(); ++i) residuals[i] = found.empty() ? kFar : found[i];
    return 0;
  }
};

std::vector<double> refined(const std::vector<AxisRange>& ranges, const std::vector<double>& start, Trials& trials) {
  constexpr double kStep = 1e-3;  // of an angle; smaller ones would see the forecast's rounding
  const OverAngles residuals{&ranges, &trials};
  if (residuals.values() < residuals.inputs()) return start;
  Eigen::NumericalDiff<OverAngles> with_slopes(residuals, kStep * kStep);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<OverAngles>> method(with_slopes);
  method.parameters.maxfev = kMostEvaluations;
  Eigen::VectorXd angles = residuals.angles_at(start);
  method.minimize(angles);
  const std::vector<double> found = residuals.values_at(angles);
  return squares(trials.at(found)) < squares(trials.at(start)) ? found : start;
}

/// The best of values between the grid's neighbours of a fit, one constant after the other. It finds minima beside jumps,
/// which slopes do not see: the order by priority, for one, changes at once.
std::vector<double> best_nearby(const std::vector<AxisRange>& ranges, std::vector<double> best, Trials& trials) {
  constexpr int kNearby = 8;          // values to each side
  constexpr double kBetter = 0.9999;  // of the squares; less is rounding
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const AxisRange& range = ranges[i];
    const double from = range.coordinate(range.from), to = range.coordinate(range.to), at = range.coordinate(best[i]);
    for (int k = -kNearby; k <= kNearby; ++k) {
      const double coordinate = at + k * (to - from) / ((kGrid - 1) * kNearby);
      if (coordinate < from || coordinate > to) continue;
      std::vector<double> other = best;
      other[i] = range.value_at(coordinate);
      if (squares(trials.at(other)) < kBetter * squares(trials.at(best))) best = other;
    }
  }
  return best;
}

/// dr/dv between two values near the fit, within the range. The unit of v is its range.
Eigen::MatrixXd slopes_at(const std::vector<AxisRange>& ranges, const std::vector<double>& values, Trials& trials) {
  constexpr double kStep = 1e-2;  // of the range: over the forecast's kinks, not between them
  const auto rows = static_cast<Eigen::Index>(trials.rows());
  Eigen::MatrixXd slopes(rows, static_cast<Eigen::Index>(ranges.size()));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const double step = kStep * (ranges[i].to - ranges[i].from);
    std::vector<double> low = values, high = values;
    low[i] = std::max(ranges[i].from, values[i] - step);
    high[i] = std::min(ranges[i].to, values[i] + step);
    const std::vector<double> at_low = trials.at(low), at_high = trials.at(high);
    for (Eigen::Index row = 0; row < rows; ++row)
      slopes(row, static_cast<Eigen::Index>(i)) =
          at_low.empty() || at_high.empty()
              ? 0
              : (at_high[row] - at_low[row]) * (ranges[i].to - ranges[i].from) / (high[i] - low[i]);
  }
  return slopes;
}

/// Standard errors of the constants in units of s and of their ranges; infinite if the rows do not tell.
std::vector<double> standard_errors(const Eigen::MatrixXd& slopes) {
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(slopes.transpose() * slopes);
  const auto k = static_cast<std::size_t>(slopes.cols());
  if (!qr.isInvertible()) return std::vector<double>(k, std::numeric_limits<double>::infinity());
  const Eigen::MatrixXd inverse = qr.inverse();
  std::vector<double> errors;
  for (std::size_t i = 0; i < k; ++i) {
    const auto j = static_cast<Eigen::Index>(i);
    errors.push_back(std::sqrt(std::max(0.0, inverse(j, j))));
  }
  return errors;
}

double moved(const AxisRange& range, std::size_t which, std::vector<double> values, Trials& trials) {
  values[which] = range.from;
  const std::vector<double> low = trials.at(values);
  values[which] = range.to;
  const std::vector<double> high = trials.at(values);
  if (low.empty() || high.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < low.size(); ++i) sum += (high[i] - low[i]) * (high[i] - low[i]);
  return std::sqrt(sum / static_cast<double>(low.size()));
}

}  // namespace

std::optional<Fit> fit_least_squares(const std::vector<AxisRange>& ranges, const ResidualsAt& residuals_at) {
  Trials trials(residuals_at);
  std::vector<double> values = best_of_grids(ranges, trials);
  if (trials.rows() == 0) return {};
  values = best_nearby(ranges, refined(ranges, values, trials), trials);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    std::vector<double> shorter = values;
    shorter[i] = rounded(ranges[i], values[i]);
    if (!trials.at(shorter).empty()) values = shorter;
  }
  Fit fit;
  fit.rows = trials.rows();
  const double sum = squares(trials.at(values));
  fit.rms = std::sqrt(sum / static_cast<double>(fit.rows));
  const std::size_t k = ranges.size();
  const bool tells = fit.rows > k;
  const double freedom = tells ? static_cast<double>(fit.rows - k) : 0;
  if (tells) fit.spread = std::sqrt(sum / freedom);
  const std::vector<double> errors = standard_errors(slopes_at(ranges, values, trials));
  for (std::size_t i = 0; i < k; ++i) {
    FittedConstant one;
    one.value = values[i];
    one.at_end = values[i] == ranges[i].from || values[i] == ranges[i].to;
    one.moves = moved(ranges[i], i, values, trials);
    if (tells && std::isfinite(errors[i])) {
      const double width = ranges[i].to - ranges[i].from,
                   half =
                       boost::math::quantile(boost::math::students_t(freedom), 0.975) * fit.spread * errors[i] * width;
      if (2 * half < width) {
        one.low = std::max(ranges[i].from, values[i] - half);
        one.high = std::min(ranges[i].to, values[i] + half);
      }
    }
    fit.constants.push_back(one);
  }
  fit.tried = trials.tried();
  return fit;
}

double rounded(const AxisRange& range, double value) {
  if (range.is_discrete() || value == range.from || value == range.to) return value;
  const double digits = std::stod(fmt::format("{:.4g}", value));
  if (std::abs(digits - value) > (range.to - range.from) / 1000) return value;
  return std::clamp(digits, range.from, range.to);
}

}  // namespace stepcast
