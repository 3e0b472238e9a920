// binary16, by the conversions of the CPU references in kernels/code/half.hpp, which includes this.
#pragma once

#include <cstdint>

namespace stepcast::kernels {
inline std::uint16_t half_bits(float x);
inline float float_of_half(std::uint16_t half);
}  // namespace stepcast::kernels

struct __half {
  std::uint16_t bits;
};
inline __half __float2half_rn(float x) { return {stepcast::kernels::half_bits(x)}; }
inline float __half2float(__half x) { return stepcast::kernels::float_of_half(x.bits); }
inline std::uint16_t __half_as_ushort(__half x) { return x.bits; }
inline __half __ushort_as_half(std::uint16_t bits) { return {bits}; }
