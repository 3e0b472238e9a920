// bfloat16, the upper half of a float: 8 bits of exponent, 7 of mantissa. The CPU references' conversions.
#pragma once

#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

/// Rounds to nearest, ties to even. NaN becomes 0x7fff, as CUDA's __float2bfloat16_rn makes it.
STEPCAST_SHARED std::uint16_t bfloat_bits(float x) {
  if (magnitude_bits(x) > 0x7f800000U) return 0x7fff;
  const std::uint32_t bits = bits_of(x);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

STEPCAST_SHARED float float_of_bfloat(std::uint16_t bits) { return float_of(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace stepcast::kernels
