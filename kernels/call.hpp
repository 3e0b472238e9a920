// The arguments of a kernel's call, on the CPU and on the GPU. C++17: CUDA code includes it.
#pragma once

#include <cmath>
#include <cstdint>

namespace stepcast::kernels {

/// Elements of a tile, the unit in which compaction counts and writes.
inline constexpr std::int64_t kTile = 4096;
/// Threshold-v's threshold: 4.24 % of standard normal elements are larger, the density that models/compressor assumes.
inline constexpr float kThreshold = 2.03F;
/// TernGrad clips at this many standard deviations.
inline constexpr float kTernaryClip = 2.5F;
/// Weight of the old momentum in v ← μv + (1-μ)g, and DGC's μ.
inline constexpr float kMomentum = 0.9F;
/// QSGD's bucket: as many elements as a warp holds in its registers.
inline constexpr std::int64_t kBucket = 512;
/// SketchML's number of quantiles: a code is one byte.
inline constexpr std::int64_t kQuantiles = 256;
/// 3LC's sparsity multiplier s, of [1, 2): the larger, the more zeros.
inline constexpr float kSparsity = 1.5F;
/// Gram-Schmidt treats a column as dependent if the rest of it is shorter than this share of its length.
inline constexpr double kDependent = 1e-5;

struct Call {
  std::int64_t n;                  ///< elements of the dense vector
  void* const* buffers;            ///< in the descriptor's order
  const std::int64_t* parameters;  ///< the descriptor's
  std::uint64_t seed;

  template <class T>
  [[nodiscard]] T* at(int buffer) const {
    return static_cast<T*>(buffers[buffer]);
  }
};

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// k = max(1, floor(n/100)): elements that sparsifiers keep at the models' default ratio.
inline std::int64_t kept_of(std::int64_t n) { return n < 100 ? 1 : n / 100; }
/// Sizes of samples: max(1, floor(n/100)) elements for DGC, ceil(n/200) of each sign for adaptive quantization.
inline std::int64_t sample_of(std::int64_t n) { return kept_of(n); }
inline std::int64_t sign_sample_of(std::int64_t n) { return ceil_div(n, 200); }
/// Distance between the starts of two messages, in elements: whole groups of four.
inline std::int64_t message_stride(std::int64_t n) { return 4 * ceil_div(n, 4); }

/// The matrix view of n elements for low-rank methods: floor(√n) rows, as long as possible. Fewer than `rows` elements
/// are left over. The kernels' buffers do not contain them.
struct MatrixView {
  std::int64_t rows, columns;  ///< rows <= columns
  [[nodiscard]] std::int64_t elements() const { return rows * columns; }
  [[nodiscard]] std::int64_t rank(std::int64_t r) const { return r < rows ? r : rows; }
};

inline MatrixView matrix_view(std::int64_t n) {
  auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (rows * rows > n) --rows;
  while ((rows + 1) * (rows + 1) <= n) ++rows;
  return {rows, n / rows};
}

}  // namespace stepcast::kernels
