#include "calibrate/import/shape_factors.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Sparse>

#include "models/workload/kernel_time.hpp"

namespace stepcast::calibrate {
namespace {

constexpr double kSmoothness = 0.3;  ///< weight of a second difference
constexpr double kRidge = 0.02;      ///< weight of a knot's own distance from 1
constexpr double kSmall = 0.05;      ///< deviations below count by their square, others by their size
constexpr int kRounds = 6;
constexpr double kDigits = 1e4;

using Matrix = Eigen::SparseMatrix<double>;
using Entries = std::vector<Eigen::Triplet<double>>;

std::vector<double> powers_of_two(const std::vector<ShapeRatio>& ratios, double ProductShape::*size) {
  const auto [least, most] =
      std::minmax_element(ratios.begin(), ratios.end(),
                          [&](const ShapeRatio& a, const ShapeRatio& b) { return a.shape.*size < b.shape.*size; });
  std::vector<double> knots;
  for (double knot = std::exp2(std::floor(std::log2(std::max(1.0, least->shape.*size))));; knot *= 2) {
    knots.push_back(knot);
    if (knot >= most->shape.*size) return knots;
  }
}

/// A row for each ratio: its weights on the knots.
Matrix weights_of(const std::vector<ShapeRatio>& ratios, const ShapeFactors& grid) {
  Entries entries;
  for (std::size_t row = 0; row < ratios.size(); ++row)
    for (const WeightedKnot& knot : knots_around(grid, ratios[row].shape))
      if (knot.weight != 0) entries.emplace_back(static_cast<int>(row), static_cast<int>(knot.index), knot.weight);
  Matrix weights(static_cast<int>(ratios.size()), static_cast<int>(grid.m.size() * grid.n.size() * grid.k.size()));
  weights.setFromTriplets(entries.begin(), entries.end());
  return weights;
}

/// DᵀD of the second differences along each axis, and the ridge.
Matrix smoothness_of(const ShapeFactors& grid) {
  const std::size_t sizes[] = {grid.m.size(), grid.n.size(), grid.k.size()};
  const std::size_t strides[] = {sizes[1] * sizes[2], sizes[2], 1};
  const std::size_t knots = sizes[0] * sizes[1] * sizes[2];
  Entries entries;
  int rows = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t knot = 0; knot < knots; ++knot) {
      const std::size_t at = knot / strides[axis] % sizes[axis];
      if (at + 2 >= sizes[axis]) continue;
      const int columns[] = {static_cast<int>(knot), static_cast<int>(knot + strides[axis]),
                             static_cast<int>(knot + 2 * strides[axis])};
      entries.emplace_back(rows, columns[0], kSmoothness);
      entries.emplace_back(rows, columns[1], -2 * kSmoothness);
      entries.emplace_back(rows, columns[2], kSmoothness);
      ++rows;
    }
  for (std::size_t knot = 0; knot < knots; ++knot) entries.emplace_back(rows++, static_cast<int>(knot), kRidge);
  Matrix differences(rows, static_cast<int>(knots));
  differences.setFromTriplets(entries.begin(), entries.end());
  return differences.transpose() * differences;
}

}  // namespace

std::optional<ShapeFactors> fit_shape_factors(const std::vector<ShapeRatio>& ratios) {
  if (ratios.empty()) return {};
  ShapeFactors grid{powers_of_two(ratios, &ProductShape::m),
                    powers_of_two(ratios, &ProductShape::n),
                    powers_of_two(ratios, &ProductShape::k),
                    {}};
  const std::size_t knots = grid.m.size() * grid.n.size() * grid.k.size();
  if (static_cast<double>(ratios.size()) < kLeastPerKnot * static_cast<double>(knots)) return {};
  const Matrix weights = weights_of(ratios, grid), smoothness = smoothness_of(grid);
  Eigen::VectorXd target(static_cast<int>(ratios.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i) target(static_cast<int>(i)) = std::log(ratios[i].ratio);
  // Least absolute deviations by least squares whose weights shrink with the deviation.
  Eigen::VectorXd trust = Eigen::VectorXd::Ones(target.size()), logarithms;
  for (int round = 0; round < kRounds; ++round) {
    const Matrix trusted = trust.asDiagonal() * weights;
    Eigen::SimplicialLDLT<Matrix> solver(Matrix(weights.transpose() * trusted) + smoothness);
    logarithms = solver.solve(trusted.transpose() * target);
    const Eigen::VectorXd deviations = (target - weights * logarithms).cwiseAbs();
    trust = (deviations / kSmall).cwiseMax(1).cwiseInverse();
  }
  for (const double one : logarithms) grid.factors.push_back(std::round(std::exp(one) * kDigits) / kDigits);
  return grid;
}

}  // namespace stepcast::calibrate
