// ε: batch norm and layer norm add it to the variance under the root.
#pragma once

namespace stepcast::kernels {

inline constexpr float kNormEpsilon = 1e-5F;

}  // namespace stepcast::kernels
