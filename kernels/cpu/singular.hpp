// The singular value decomposition by one-sided Jacobi rotations in double: the reference for the GPU's.
#pragma once

#include <cstdint>
#include <vector>

namespace stepcast::kernels {

/// A = U diag(s) Vᵀ; A is a x b, a >= b, and matrices are stored column by column.
struct Singular {
  std::vector<double> u;  ///< a x b; columns of singular values of 0 are 0
  std::vector<double> s;  ///< descending
  std::vector<double> v;  ///< b x b
};

/// @pre all entries are finite
Singular decompose(const float* matrix, std::int64_t a, std::int64_t b);

}  // namespace stepcast::kernels
