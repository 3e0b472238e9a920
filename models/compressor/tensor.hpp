// A compressor's view of a gradient: its shape and element type, but no values.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "models/part/workload_table.hpp"

namespace stepcast {

/// A gradient tensor. Low-rank methods view two or more dimensions as a matrix of n = shape[0] rows and m = (product of
/// the rest) columns. GRACE, PyTorch's PowerSGD hook and Pufferfish do so, too. The order of dimensions matters:
/// PyTorch has convolutions [c_out, c_in, k, k], TensorFlow [k, k, c_in, c_out].
struct Tensor {
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::fp32;

  /// d, the number of elements.
  [[nodiscard]] std::int64_t elements() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  [[nodiscard]] bool is_matrix() const { return shape.size() >= 2; }
  [[nodiscard]] std::int64_t rows() const { return shape.front(); }
  [[nodiscard]] std::int64_t columns() const { return elements() / shape.front(); }
  /// Bytes of the uncompressed tensor.
  [[nodiscard]] Bytes dense() const { return static_cast<double>(elements()) * size_of(dtype); }
};

/// All elements of a group of tensors, which have one type, as a flat tensor.
inline Tensor flattened(std::span<const Tensor> group) {
  Tensor flat{{0}, group.front().dtype};
  for (const Tensor& tensor : group) flat.shape.front() += tensor.elements();
  return flat;
}

}  // namespace stepcast
