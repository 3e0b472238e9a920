// Factors of a grid of shapes from measured over modelled times.
#pragma once

#include <optional>
#include <vector>

#include "models/part/kernel_model.hpp"
#include "models/workload/layer_work.hpp"

namespace stepcast::calibrate {

struct ShapeRatio {
  ProductShape shape;
  double ratio = 1;  ///< measured over modelled time
};

/// Least absolute deviations of the logarithm, smooth: second differences along each axis cost too, so knots that no
/// ratio is near follow their neighbours. Knots are the powers of two around the shapes. Null for fewer than
/// kLeastPerKnot ratios a knot, which would not determine them.
inline constexpr double kLeastPerKnot = 4;
std::optional<ShapeFactors> fit_shape_factors(const std::vector<ShapeRatio>& ratios);

}  // namespace stepcast::calibrate
