#include "calibrate/least_squares.hpp"

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
  if (!best)
    for (unsigned free = 1; free < every; ++free) {
      if ((free & ~every) != 0) continue;
      auto found = solve_with(system, free);
      if (found && (!best || found->squares < best->squares)) best = std::move(found);
    }
  if (!best) throw std::invalid_argument("the rows do not determine the coefficients");
  return *best;
}

}  // namespace stepcast::calibrate
