// Matrix products by cuBLAS, row-major, one at a time or in a grid of them. C++17.
#pragma once

#include "kernels/cuda/launch.hpp"
#include "kernels/layers.hpp"

namespace stepcast::kernels {

/// A matrix in memory: rows `pitch` elements apart. In a grid of products, matrix (i, j) begins i·outer + j·inner
/// elements further on.
struct Operand {
  const void* data;
  std::int64_t pitch;
  bool transposed = false;  ///< the product uses the transpose
  std::int64_t outer = 0, inner = 0;
};
struct Result {
  void* data;
  std::int64_t pitch;
  std::int64_t outer = 0, inner = 0;
};

/// C (m x n) = A (m x k) · B (k x n), or C + A·B.
struct Product {
  std::int64_t m, n, k;
  Operand a, b;
  Result c;
  bool accumulate = false;
  std::int64_t outer_count = 1, inner_count = 1;
  bool wide_result = false;  ///< C in fp32 whatever the precision
};

/// Scratch for the addresses of a grid whose matrices are not evenly apart; 0 for other grids.
std::size_t pointer_bytes(const Product& product);

/// One call of cuBLAS. For a grid whose matrices are not evenly apart, a small kernel first writes their addresses. If
/// some of them do not begin at multiples of 16 bytes, each row or column of the grid is a call of its own.
/// @param pointers  pointer_bytes(product) of scratch, which the next product on the stream may use again
/// @throws CublasError, also for sizes beyond its 32 bits
void multiply(const DeviceCall& call, Precision precision, const Product& product, void* pointers = nullptr);

}  // namespace stepcast::kernels
