// Numbers of a layer as they lie in memory: float, or bfloat16 in bf16. Arithmetic is in float.
#pragma once

#include <type_traits>

#include <cuda_bf16.h>

#include "kernels/cuda/groups.cuh"
#include "kernels/layers.hpp"

namespace stepcast::kernels {

template <Precision kPrecision>
struct StoredType {
  using type = float;
};
template <>
struct StoredType<Precision::bf16> {
  using type = __nv_bfloat16;
};
template <Precision kPrecision>
using Stored = typename StoredType<kPrecision>::type;

__device__ inline float widen(float x) { return x; }
__device__ inline float widen(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ inline void store_rounded(float& to, float x) { to = x; }
__device__ inline void store_rounded(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }

/// Bytes rounded up to the alignment of cudaMalloc, for several things in one scratch.
inline std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// add(precision constant) for each precision.
template <class Add>
void for_each_precision(const Add& add) {
  add(std::integral_constant<Precision, Precision::fp32>{});
  add(std::integral_constant<Precision, Precision::tf32>{});
  add(std::integral_constant<Precision, Precision::bf16>{});
}

}  // namespace stepcast::kernels
