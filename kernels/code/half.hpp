// IEEE binary16, rounded to nearest, ties to even: 1 sign, 5 exponent, 10 mantissa bits. The largest number is 65504,
// the smallest normal 2^-14, the smallest denormal 2^-24. The relative error of normal values is at most 2^-11, the
// absolute error below 2^-14 at most 2^-25. From 65520 on, values become infinity. NaN stays NaN. The CPU converts by
// integer arithmetic, the GPU by its instruction.
#pragma once

#include "kernels/code/portable.hpp"

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

namespace stepcast::kernels {

/// The CPU's conversion; it also checks the GPU's.
inline std::uint16_t half_bits(float x) {
  const std::uint32_t bits = bits_of(x), sign = (bits >> 16) & 0x8000U, m = bits & 0x7fffffffU;
  if (m > 0x7f800000U) return static_cast<std::uint16_t>(0x7fffU);          // NaN as CUDA writes it
  if (m >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // 65520
  if (m < 0x33000001U) return static_cast<std::uint16_t>(sign);             // at most 2^-25: ties to even zero
  const std::uint32_t exponent = m >> 23;
  // 13 mantissa bits are dropped; below 2^-14 (exponent 113), one more for each power of two.
  const std::uint32_t drop = exponent >= 113 ? 13 : 126 - exponent;
  const std::uint32_t mantissa = exponent >= 113 ? m - (112U << 23) : (m & 0x7fffffU) | 0x800000U;
  const std::uint32_t kept = mantissa >> drop, rest = mantissa & ((1U << drop) - 1), tie = 1U << (drop - 1);
  return static_cast<std::uint16_t>(sign | (kept + ((rest > tie || (rest == tie && (kept & 1U))) ? 1U : 0U)));
}

inline float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16, exponent = (half >> 10) & 0x1fU,
                      mantissa = half & 0x3ffU;
  if (exponent == 31) return float_of(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float value = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -value : value;
}

#ifdef __CUDACC__
__device__ inline std::uint16_t device_half_bits(float x) { return __half_as_ushort(__float2half_rn(x)); }
__device__ inline float device_float_of_half(std::uint16_t half) { return __half2float(__ushort_as_half(half)); }
#endif

}  // namespace stepcast::kernels
