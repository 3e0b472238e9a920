// A block's tile of a matrix product, from shared memory: C (kRows x kColumns) += A (kRows x kDepth) · B (kDepth x
// kColumns). By tensor cores in tf32 and bf16 (nvcuda::wmma, compute capability 8.0 and later), else by fused
// multiply-adds; sums are fp32. A warp has a part of 32 x 32.
//
// In shared memory A lies row by row, B row by row or column by column (kBByColumn), as whoever fetches it reads. What
// is contiguous along the depth is kDepth = 64 bytes in rows of 80, so that tensor cores' loads meet no bank twice.
#pragma once

#include <mma.h>

#include "kernels/cuda/stored.cuh"

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

/// Of a block's tile of C.
template <int kRows_, int kColumns_>
struct TileShape {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kThreads = kRows * kColumns / 32;
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

/// What a rounding to the operands' type leaves of a number that is stored as T.
template <Precision kPrecision, class T>
__device__ T as_operand(T x) {
  if constexpr (kPrecision == Precision::tf32 && kByTensorCores<kPrecision>) return nvcuda::wmma::__float_to_tf32(x);
  else return x;
}

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
  using Element = std::conditional_t<kPrecision == Precision::tf32, nvcuda::wmma::precision::tf32, T>;
  static constexpr int kStep = kPrecision == Precision::tf32 ? 8 : 16;
  template <class Use, class E, class... Major>
  using Fragment = nvcuda::wmma::fragment<Use, 16, 16, kStep, E, Major...>;

  __device__ static int first_row() { return static_cast<int>(threadIdx.x) / 32 % (Shape::kRows / 32) * 32; }
  __device__ static int first_column() { return static_cast<int>(threadIdx.x) / 32 / (Shape::kRows / 32) * 32; }

 public:
  __device__ void clear() {
    for (auto& line : sums_)
      for (auto& sum : line) nvcuda::wmma::fill_fragment(sum, 0.0F);
  }
  __device__ void add(const typename Layout::Operands& operands) {
    using Major = std::conditional_t<kBByColumn, nvcuda::wmma::col_major, nvcuda::wmma::row_major>;
    for (int depth = 0; depth < Layout::kDepth; depth += kStep) {
      Fragment<nvcuda::wmma::matrix_a, Element, nvcuda::wmma::row_major> a[2];
      Fragment<nvcuda::wmma::matrix_b, Element, Major> b[2];
      for (int i = 0; i < 2; ++i) {
        const int row = first_row() + 16 * i, column = first_column() + 16 * i;
        nvcuda::wmma::load_matrix_sync(a[i], operands.a + row * Layout::kDepthPitch + depth, Layout::kDepthPitch);
        nvcuda::wmma::load_matrix_sync(
            b[i], operands.b + (kBByColumn ? column * Layout::kBPitch + depth : depth * Layout::kBPitch + column),
            Layout::kBPitch);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) nvcuda::wmma::mma_sync(sums_[i][j], a[i], b[j], sums_[i][j]);
    }
  }
  __device__ void store(float* to) const {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        nvcuda::wmma::store_matrix_sync(to + (first_row() + 16 * i) * Layout::kSumPitch + first_column() + 16 * j,
                                        sums_[i][j], Layout::kSumPitch, nvcuda::wmma::mem_row_major);
  }

 private:
  Fragment<nvcuda::wmma::accumulator, float> sums_[2][2];
};

}  // namespace stepcast::kernels
