// A block's tile of a matrix product, from shared memory: C (kRows x kColumns) += A (kRows x kDepth) · B (kDepth x
// kColumns). By tensor cores in tf32 (operands cut to its 10 bits) and bf16 from compute capability 8.0 on, else by
// fused multiply-adds; sums are fp32.
//
// In shared memory A lies row by row, B row by row or column by column (kBByColumn), as whoever fetches it reads. What
// is contiguous along the depth is kDepth = 64 bytes in rows of 80, so that tensor cores' loads meet no bank twice.
#pragma once

#include "kernels/cuda/stored.cuh"
#include "kernels/cuda/tensor_cores.cuh"

namespace stepcast::kernels {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <Precision>
inline constexpr bool kByTensorCores = false;
#else
template <Precision kPrecision>
inline constexpr bool kByTensorCores = kPrecision != Precision::fp32;
#endif

template <class T>
inline constexpr int kTileDepth = static_cast<int>(64 / sizeof(T));

/// Of a block's tile of C, of which a warp has kWarpRows x 32 on tensor cores.
template <int kRows_, int kColumns_, int kWarpRows_>
struct TileShape {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kWarpRows = kWarpRows_,
                       kThreads = kRows * kColumns / kWarpRows;
};

template <class T, class Shape, bool kBByColumn>
struct TileMemory {
  static constexpr int kDepth = kTileDepth<T>, kDepthPitch = kDepth + static_cast<int>(16 / sizeof(T)),
                       kBPitch = kBByColumn ? kDepthPitch : Shape::kColumns + 8, kSumPitch = Shape::kColumns + 4;
  struct Operands {
    T a[Shape::kRows * kDepthPitch], b[(kBByColumn ? Shape::kColumns : kDepth) * kBPitch];
  };
  /// Two tiles of operands, one that is multiplied and one that is written; at the end the sums, for stores that are
  /// neighbours in memory.
  union alignas(32) Memory {
    Operands operands[2];
    float sums[Shape::kRows * kSumPitch];
  };
};

/// The sums of C that a thread has.
template <Precision kPrecision, class Shape, bool kBByColumn, bool kTensorCores = kByTensorCores<kPrecision>>
class TileSums {
  using T = Stored<kPrecision>;
  using Layout = TileMemory<T, Shape, kBByColumn>;
  static constexpr int kAcross = 16, kDown = Shape::kThreads / kAcross;  // threads
  static constexpr int kM = Shape::kRows / kDown, kN = Shape::kColumns / kAcross;

  /// B's columns of a thread are apart where columns are contiguous, else four by four.
  __device__ static int column(int j) {
    const int thread = static_cast<int>(threadIdx.x) % kAcross;
    return kBByColumn ? thread + kAcross * j : j / 4 * (4 * kAcross) + 4 * thread + j % 4;
  }
  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / kAcross + kDown * i; }

 public:
  __device__ void clear() {
    for (auto& line : sums_)
      for (float& sum : line) sum = 0;
  }
  __device__ void add(const typename Layout::Operands& operands) {
    for (int depth = 0; depth < Layout::kDepth; depth += 4) {
      Pack<T> a[kM];
      for (int i = 0; i < kM; ++i)
        a[i] = *reinterpret_cast<const Pack<T>*>(operands.a + row(i) * Layout::kDepthPitch + depth);
      for (int j = 0; j < kN; j += 4) {
        // Four columns' four products: b.v[k] of a column, or of a depth.
        Pack<T> b[4];
        for (int k = 0; k < 4; ++k)
          b[k] = *reinterpret_cast<const Pack<T>*>(kBByColumn ? operands.b + column(j + k) * Layout::kBPitch + depth
                                                              : operands.b + (depth + k) * Layout::kBPitch + column(j));
        for (int k = 0; k < 4; ++k)
          for (int i = 0; i < kM; ++i)
            for (int n = 0; n < 4; ++n)
              sums_[i][j + n] = fmaf(widen(a[i].v[k]), widen(kBByColumn ? b[n].v[k] : b[k].v[n]), sums_[i][j + n]);
      }
    }
  }
  __device__ void store(float* to) const {
    for (int i = 0; i < kM; ++i)
      for (int j = 0; j < kN; ++j) to[row(i) * Layout::kSumPitch + column(j)] = sums_[i][j];
  }

 private:
  float sums_[kM][kN];
};

template <Precision kPrecision, class Shape, bool kBByColumn>
class TileSums<kPrecision, Shape, kBByColumn, true> {
  using T = Stored<kPrecision>;
  using Layout = TileMemory<T, Shape, kBByColumn>;
  using Words = std::uint32_t[4];
  /// Of the depth, what one product takes: 32 bytes.
  static constexpr int kStep = Layout::kDepth / 2;

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static constexpr int kM = Shape::kWarpRows / 16, kN = 2, kWarpsDown = Shape::kRows / Shape::kWarpRows;
  __device__ static int first_row() { return static_cast<int>(threadIdx.x) / 32 % kWarpsDown * Shape::kWarpRows; }
  __device__ static int first_column() { return static_cast<int>(threadIdx.x) / 32 / kWarpsDown * 32; }

  /// 16 rows: rows 0 and 8 of the step's first half, then of its second.
  __device__ static void load_a(Words& words, const T* a, int row, int depth) {
    load_matrices(words, a + (row + lane() % 16) * Layout::kDepthPitch + depth + lane() / 16 * (kStep / 2));
  }
  /// 16 columns: both halves of the step of columns 0 to 7, then of columns 8 to 15.
  __device__ static void load_b(Words& words, const T* b, int column, int depth) {
    if constexpr (kBByColumn) {
      load_matrices(
          words, b + (column + lane() / 16 * 8 + lane() % 8) * Layout::kBPitch + depth + lane() / 8 % 2 * (kStep / 2));
    } else if constexpr (kPrecision == Precision::bf16) {
      load_transposed(words, b + (depth + lane() % 16) * Layout::kBPitch + column + lane() / 16 * 8);
    } else {
      const T* from = b + (depth + lane() % 4) * Layout::kBPitch + column + lane() / 4;
      for (int i = 0; i < 4; ++i) words[i] = bits_of(from[i % 2 * 4 * Layout::kBPitch + i / 2 * 8]);
    }
  }
  __device__ static void multiply(float (&sums)[4], const Words& a, const std::uint32_t (&b)[2]) {
    if constexpr (kPrecision == Precision::bf16) multiply_bf16(sums, a, b);
    else multiply_tf32(sums, a, b);
  }

 public:
  __device__ void clear() {
    for (auto& line : sums_)
      for (auto& tile : line)
        for (float& sum : tile) sum = 0;
  }
  __device__ void add(const typename Layout::Operands& operands) {
    for (int depth = 0; depth < Layout::kDepth; depth += kStep) {
      Words a[kM], b[kN];
      for (int i = 0; i < kM; ++i) load_a(a[i], operands.a, first_row() + 16 * i, depth);
      for (int j = 0; j < kN; ++j) load_b(b[j], operands.b, first_column() + 16 * j, depth);
      for (int i = 0; i < kM; ++i)
        for (int j = 0; j < 2 * kN; ++j) {
          const std::uint32_t column[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
          multiply(sums_[i][j], a[i], column);
        }
    }
  }
  __device__ void store(float* to) const {
    for (int i = 0; i < kM; ++i)
      for (int j = 0; j < 2 * kN; ++j)
        for (int k = 0; k < 4; ++k)
          to[(first_row() + 16 * i + k / 2 * 8 + lane() / 4) * Layout::kSumPitch + first_column() + 8 * j +
             lane() % 4 * 2 + k % 2] = sums_[i][j][k];
  }

 private:
  float sums_[kM][2 * kN][4];  ///< tiles of 16 x 8
};

}  // namespace stepcast::kernels
