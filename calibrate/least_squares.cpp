#include "calibrate/least_squares.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <Eigen/Dense>

namespace stepcast::calibrate {
namespace {

/// Columns scaled to length 1, so that seconds and seconds per byte are alike to the decomposition.
struct System {
  Eigen::MatrixXd a;
  Eigen::VectorXd scale;
};

System scaled(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets) {
  const auto n = static_cast<Eigen::Index>(rows.size()), m = static_cast<Eigen::Index>(rows.front().size());
  System system{Eigen::MatrixXd(n, m), Eigen::VectorXd(m)};
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < m; ++j) system.a(i, j) = rows[i][j] / targets[i];
  for (Eigen::Index j = 0; j < m; ++j) {
    system.scale(j) = system.a.col(j).norm();
    if (system.scale(j) > 0) system.a.col(j) /= system.scale(j);
  }
  return system;
}

Eigen::MatrixXd columns(const Eigen::MatrixXd& a, unsigned free) {
  Eigen::MatrixXd part(a.rows(), __builtin_popcount(free));
  for (Eigen::Index j = 0, to = 0; j < a.cols(); ++j)
    if ((free >> j) & 1U) part.col(to++) = a.col(j);
  return part;
}

/// The columns of the least squares with coefficients of at least 0, among those of `every`, by the active sets of
/// Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23). The column of the steepest descent is freed;
/// columns whose coefficient would turn negative are held again on the way.
unsigned free_columns(const System& system, unsigned every) {
  constexpr double kFlat = 1e-10;
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(system.a.rows());
  Eigen::VectorXd x = Eigen::VectorXd::Zero(system.a.cols());
  unsigned free = 0;
  const auto is_free = [&](Eigen::Index j) { return ((free >> j) & 1U) != 0; };
  for (Eigen::Index turn = 0; turn < 10 * system.a.cols(); ++turn) {
    const Eigen::VectorXd descent = system.a.transpose() * (ones - system.a * x);
    Eigen::Index steepest = -1;
    for (Eigen::Index j = 0; j < descent.size(); ++j)
      if (((every >> j) & 1U) != 0 && !is_free(j) && descent(j) > kFlat * ones.norm() &&
          (steepest < 0 || descent(j) > descent(steepest)))
        steepest = j;
    if (steepest < 0) break;
    free |= 1U << steepest;
    while (free != 0) {
      const Eigen::VectorXd part = columns(system.a, free).colPivHouseholderQr().solve(ones);
      Eigen::VectorXd goal = Eigen::VectorXd::Zero(x.size());
      double way = 1;
      for (Eigen::Index j = 0, from = 0; j < x.size(); ++j) {
        if (!is_free(j)) continue;
        goal(j) = part(from++);
        if (goal(j) <= 0) way = std::min(way, x(j) / (x(j) - goal(j)));
      }
      if (way >= 1) {
        x = goal;
        break;
      }
      x += way * (goal - x);
      for (Eigen::Index j = 0; j < x.size(); ++j)
        if (is_free(j) && goal(j) <= 0 && x(j) <= kFlat) {
          x(j) = 0;
          free &= ~(1U << j);
        }
    }
  }
  return free;
}

/// The least squares with only the columns of `free`; none if they are not independent or a coefficient is negative.
std::optional<LeastSquares> solve_with(const System& system, unsigned free) {
  const Eigen::MatrixXd a = columns(system.a, free);
  if (a.rows() < a.cols()) return std::nullopt;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(a);
  qr.setThreshold(1e-9);
  if (qr.rank() < a.cols()) return std::nullopt;
  const Eigen::VectorXd x = qr.solve(Eigen::VectorXd::Ones(a.rows()));
  if ((x.array() < 0).any()) return std::nullopt;
  LeastSquares result;
  result.squares = (a * x - Eigen::VectorXd::Ones(a.rows())).squaredNorm();
  result.degrees_of_freedom = static_cast<int>(a.rows() - a.cols());
  const Eigen::MatrixXd covariance = (a.transpose() * a).inverse() *
                                     (result.degrees_of_freedom > 0 ? result.squares / result.degrees_of_freedom : 0.0);
  const auto all = static_cast<std::size_t>(system.a.cols());
  result.coefficients.assign(all, 0);
  result.covariance.assign(all, std::vector<double>(all, 0));
  std::vector<std::size_t> which;
  for (std::size_t j = 0; j < all; ++j)
    if ((free >> j) & 1U) which.push_back(j);
  for (std::size_t j = 0; j < which.size(); ++j) {
    const double scale = system.scale(static_cast<Eigen::Index>(which[j]));
    result.coefficients[which[j]] = x(static_cast<Eigen::Index>(j)) / scale;
    for (std::size_t k = 0; k < which.size(); ++k)
      result.covariance[which[j]][which[k]] = covariance(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k)) /
                                              scale / system.scale(static_cast<Eigen::Index>(which[k]));
  }
  return result;
}

}  // namespace

LeastSquares solve_relative(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets) {
  if (rows.empty() || rows.front().empty() || rows.size() != targets.size())
    throw std::invalid_argument("least squares without rows");
  const System system = scaled(rows, targets);
  unsigned every = 0;  // mask of the columns that some row has
  for (Eigen::Index j = 0; j < system.a.cols(); ++j)
    if (system.scale(j) > 0) every |= 1U << j;
  std::optional<LeastSquares> best = solve_with(system, every);
  if (const unsigned free = best ? 0 : free_columns(system, every); free != 0) best = solve_with(system, free);
  if (!best) throw std::invalid_argument("the rows do not determine the coefficients");
  return *best;
}

}  // namespace stepcast::calibrate
