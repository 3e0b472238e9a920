// Rows that are reduced by a warp or, where they are wide, by a block. All threads of a warp (a block) share a row, so
// all of them reach every shuffle and barrier.
#pragma once

#include "kernels/cuda/elements.cuh"

namespace stepcast::kernels {

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};

/// A struct of 32-bit words from the lane whose number differs by `mask`.
template <class X>
__device__ X shuffled(const X& x, int mask) {
  static_assert(sizeof(X) % 4 == 0, "words");
  std::uint32_t words[sizeof(X) / 4];
  memcpy(words, &x, sizeof x);
  for (std::uint32_t& word : words) word = __shfl_xor_sync(0xffffffffU, word, mask);
  X other;
  memcpy(&other, words, sizeof x);
  return other;
}

/// Combines the x of all threads of a group of 32 or kThreads by op. All of them get the result, and the order is
/// always the same. All threads of the warp (the block) must call it.
template <int kGroup, class X, class Op>
__device__ X reduce_group(X x, Op op) {
  static_assert(kGroup == 32 || kGroup == kThreads, "a warp or a block");
  for (int mask = 16; mask > 0; mask /= 2) x = op(x, shuffled(x, mask));
  if constexpr (kGroup == kThreads) {
    __shared__ X parts[kThreads / 32];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = parts[0];
    for (int warp = 1; warp < kThreads / 32; ++warp) x = op(x, parts[warp]);
    __syncthreads();  // the parts may be written again
  }
  return x;
}

/// A thread's share of the rows: its first row, the step to the next one, and its place in its group.
template <int kGroup>
struct RowShare {
  std::int64_t first, step;
  int place;
  __device__ RowShare()
      : first((static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / kGroup),
        step(static_cast<std::int64_t>(gridDim.x) * (kThreads / kGroup)),
        place(static_cast<int>(threadIdx.x % kGroup)) {}
};

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};

/// Calls launch(group, vector, blocks) for rows of `width` elements of T. A warp takes rows up to 1024 wide, a block
/// wider ones. Vectors have 16 bytes, or one element if rows would not be aligned to 16 bytes.
template <class T, class Launcher>
void over_rows(std::int64_t rows, std::int64_t width, const Launcher& launch) {
  const bool aligned = width % kWide<T> == 0;
  if (width <= 1024) {
    const unsigned blocks = blocks_for(32 * rows);
    if (aligned) launch(Constant<32>{}, Constant<kWide<T>>{}, blocks);
    else launch(Constant<32>{}, Constant<1>{}, blocks);
  } else {
    const unsigned blocks = blocks_for(kThreads * rows);
    if (aligned) launch(Constant<kThreads>{}, Constant<kWide<T>>{}, blocks);
    else launch(Constant<kThreads>{}, Constant<1>{}, blocks);
  }
}

/// visit(first, values) for the thread's vectors of a row.
template <int kGroup, int V, class T, class Visit>
__device__ void for_row(const T* row, std::int64_t width, int place, const Visit& visit) {
  for (std::int64_t i = std::int64_t{V} * place; i < width; i += V * kGroup) visit(i, load_values<V>(row, i));
}

}  // namespace stepcast::kernels
