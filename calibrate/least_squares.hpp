// Least squares of relative deviations with coefficients that cannot be negative: times, and times per byte or
// operation. The decompositions are Eigen's.
#pragma once

#include <vector>

namespace stepcast::calibrate {

struct LeastSquares {
  std::vector<double> coefficients;
  /// σ²·(AᵀA)⁻¹ of the free ones with σ² = squares/(rows - free ones); 0 for coefficients held at 0.
  std::vector<std::vector<double>> covariance;
  double squares = 0;          ///< Σ (fitted/target - 1)²
  int degrees_of_freedom = 0;  ///< rows less free coefficients
};

/// The x >= 0 that minimises Σ_i (Σ_j rows[i][j]·x_j / targets[i] - 1)². A coefficient that no row has is 0. The result
/// is exact: active sets find the coefficients that are held at 0.
/// @param targets  above 0, as many as rows
/// @throws std::invalid_argument where the rows do not determine the coefficients
LeastSquares solve_relative(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets);

}  // namespace stepcast::calibrate
