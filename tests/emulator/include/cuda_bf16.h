// bfloat16, by the conversions of the CPU references.
#pragma once

#include "kernels/code/bfloat.hpp"

struct __nv_bfloat16 {
  std::uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 x) { return stepcast::kernels::float_of_bfloat(x.bits); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return {stepcast::kernels::bfloat_bits(x)}; }
