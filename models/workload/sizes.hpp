// Sizes of layers as real numbers.
#pragma once

#include "models/part/layer_shape.hpp"

namespace stepcast {

inline double real(Count count) { return static_cast<double>(count); }

/// Positions of an extent: height times width.
inline double product(const Extent& extent) { return real(extent[0]) * real(extent[1]); }

}  // namespace stepcast
