// A layer's elements: in memory float or bfloat16 (as its bits), in registers float.
#pragma once

#include "kernels/code/bfloat.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#endif

namespace stepcast::kernels {

STEPCAST_SHARED float widened(float x) { return x; }
STEPCAST_SHARED float widened(std::uint16_t bits) { return float_of_bfloat(bits); }

/// Rounds to nearest, ties to even. The GPU has an instruction for it.
template <class T>
STEPCAST_SHARED T narrowed(float x) {
  if constexpr (sizeof(T) == 4) {
    return x;
  } else {
#ifdef __CUDA_ARCH__
    return __bfloat16_as_ushort(__float2bfloat16_rn(x));
#else
    return bfloat_bits(x);
#endif
  }
}

}  // namespace stepcast::kernels
