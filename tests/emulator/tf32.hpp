// tf32: a float whose mantissa has 10 bits.
#pragma once

#include "kernels/code/portable.hpp"

namespace stepcast::emulator {

/// To the nearest, from ties away from zero; of NaN and infinities nothing changes.
inline float rounded_to_tf32(float x) {
  const std::uint32_t bits = kernels::bits_of(x);
  return (bits & 0x7f800000U) == 0x7f800000U ? x : kernels::float_of((bits + 0x1000U) & 0xffffe000U);
}

inline bool is_tf32(float x) { return (kernels::bits_of(x) & 0x1fffU) == 0; }

}  // namespace stepcast::emulator
