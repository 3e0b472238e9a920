// Functions of one element that the CPU references and the CUDA kernels share, so that both agree bit by bit. C++17,
// since nvcc's device code is. Both sides are compiled without contraction to fused multiply-add
// (kernels/CMakeLists.txt).
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define STEPCAST_MEMBER __host__ __device__
#else
#define STEPCAST_MEMBER
#endif
#define STEPCAST_SHARED STEPCAST_MEMBER inline

namespace stepcast::kernels {

STEPCAST_SHARED std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

STEPCAST_SHARED float float_of(std::uint32_t bits) {
  float x = 0;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/// Bits of |x|: ordered as magnitudes are, with NaN above infinity. The key of max-abs, radix select and thresholds.
STEPCAST_SHARED std::uint32_t magnitude_bits(float x) { return bits_of(x) & 0x7fffffffU; }
STEPCAST_SHARED float magnitude(float x) { return float_of(magnitude_bits(x)); }

}  // namespace stepcast::kernels
