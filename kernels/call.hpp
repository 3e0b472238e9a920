// What a kernel is called with, on the CPU and on the GPU. C++17: CUDA code includes it.
#pragma once

#include <cstdint>

namespace stepcast::kernels {

/// Elements of a tile, the unit in which compaction counts and writes.
inline constexpr std::int64_t kTile = 4096;
/// Threshold-v's threshold: 4.24 % of standard normal elements are larger, the density that models/compressor assumes.
inline constexpr float kThreshold = 2.03F;
/// TernGrad clips at so many standard deviations.
inline constexpr float kTernaryClip = 2.5F;
/// Weight of the old momentum in v ← μv + (1-μ)g.
inline constexpr float kMomentum = 0.9F;

struct Call {
  std::int64_t n;                   ///< elements of the dense vector
  void* const* buffers;             ///< in the descriptor's order
  const std::int64_t* parameters;   ///< the descriptor's
  std::uint64_t seed;

  template <class T>
  [[nodiscard]] T* at(int buffer) const { return static_cast<T*>(buffers[buffer]); }
};

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// k = max(1, floor(n/100)): elements that sparsifiers keep at the models' default ratio.
inline std::int64_t kept_of(std::int64_t n) { return n < 100 ? 1 : n / 100; }

}  // namespace stepcast::kernels
