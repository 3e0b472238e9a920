// INCEPTIONN, Li et al. 2018, with error bound 2^-10. The exponent decides how many bits an element takes:
//     |x| >= 1, infinities, NaN   32 bits: itself                                           tag 3
//     2^-5 <= |x| < 1             16 bits: sign and floor(|x|·2^15), off by less than 2^-15  tag 2
//     2^-10 <= |x| < 2^-5          8 bits: sign and floor(|x|·2^12), off by less than 2^-12  tag 1
//     smaller                     no bits: 0, off by less than 2^-10                        tag 0
// Tags of 2 bits, four to a byte. The classes are the paper's and GRACE's; GRACE scales 16 bits by 2^14 and 8 bits by
// 2^6.
#pragma once

#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

STEPCAST_SHARED std::uint32_t exponent_tag(float x) {
  const std::uint32_t exponent = magnitude_bits(x) >> 23;
  return exponent >= 127 ? 3U : exponent >= 122 ? 2U : exponent >= 117 ? 1U : 0U;
}

/// Sign in the highest bit of `bits`, below it floor(|x|·2^scale); exact, since x·2^scale is.
STEPCAST_SHARED std::uint32_t fixed_point(float x, int bits, float scale) {
  return static_cast<std::uint32_t>(magnitude(x) * scale) | (bits_of(x) >> 31) << (bits - 1);
}
STEPCAST_SHARED float of_fixed_point(std::uint32_t code, int bits, float scale) {
  const float value = static_cast<float>(code & ((1U << (bits - 1)) - 1)) / scale;
  return (code >> (bits - 1)) != 0 ? -value : value;
}

STEPCAST_SHARED std::uint16_t inceptionn_16(float x) { return static_cast<std::uint16_t>(fixed_point(x, 16, 0x1p15F)); }
STEPCAST_SHARED std::uint8_t inceptionn_8(float x) { return static_cast<std::uint8_t>(fixed_point(x, 8, 0x1p12F)); }
STEPCAST_SHARED float of_inceptionn_16(std::uint16_t code) { return of_fixed_point(code, 16, 0x1p15F); }
STEPCAST_SHARED float of_inceptionn_8(std::uint8_t code) { return of_fixed_point(code, 8, 0x1p12F); }

}  // namespace stepcast::kernels
