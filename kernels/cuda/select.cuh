// Radix select of the k-th largest magnitude: digit by digit from the highest, counted in shared memory. `state` has
// two numbers: the digits of the key found so far, and how many elements with these digits are still to be kept.
#pragma once

#include <cub/block/block_scan.cuh>

#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {

/// The elements of a vector; Input of count_digits.
struct Elements {
  const float* x;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t n) const { return load(x, g, n); }
};

/// Counts each value of the kBits from bit `shift` on, among the keys whose higher bits equal those of `state`. For the
/// first digit (state null) it counts all keys. Leading digits of gradients are similar, so adjacent lanes use separate
/// copies of the counters. `length`, if not null, is n as the device knows it.
/// @pre bins are zeroed
template <int kBits, int kCopies, class Input>
__global__ void count_digits(Input input, std::int64_t n, const std::uint32_t* length, int shift,
                             const std::uint32_t* state, std::uint32_t* bins) {
  constexpr int kBins = 1 << kBits;
  __shared__ std::uint32_t mine[kBins * kCopies];
  for (int i = static_cast<int>(threadIdx.x); i < kBins * kCopies; i += kThreads) mine[i] = 0;
  __syncthreads();
  if (length != nullptr) n = *length;
  const std::uint64_t prefix = state == nullptr ? 0 : std::uint64_t{state[0]} >> (shift + kBits);
  const std::uint32_t copy = threadIdx.x % kCopies;
  const std::int64_t groups = (n + 3) / 4, stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride) {
    const Pack<float> a = input(g, n);
    for (int k = 0; k < 4; ++k) {
      if (4 * g + k >= n) continue;
      const std::uint32_t key = magnitude_bits(a.v[k]);
      if ((std::uint64_t{key} >> (shift + kBits)) == prefix)
        atomicAdd(&mine[((key >> shift) & (kBins - 1)) * kCopies + copy], 1U);
    }
  }
  __syncthreads();
  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) {
    std::uint32_t sum = 0;
    for (int i = 0; i < kCopies; ++i) sum += mine[bin * kCopies + i];
    if (sum != 0) atomicAdd(&bins[bin], sum);
  }
}

/// The digit in which the k-th key from above lies. One block; thread t looks at the t-th kPer digits from above.
/// @param k  of the first digit; 0: state knows
template <int kBits>
__global__ void choose_digit(const std::uint32_t* bins, int shift, std::uint32_t k, std::uint32_t* state) {
  constexpr int kPer = (1 << kBits) / kThreads;
  static_assert(kPer >= 1, "at least one digit a thread");
  __shared__ typename cub::BlockScan<std::uint32_t, kThreads>::TempStorage storage;
  const std::uint32_t prefix = k != 0 ? 0 : state[0], remaining = k != 0 ? k : state[1];
  const std::uint32_t highest = (1U << kBits) - 1 - threadIdx.x * kPer;
  std::uint32_t counts[kPer], sum = 0, above = 0;
  for (int i = 0; i < kPer; ++i) sum += counts[i] = bins[highest - static_cast<std::uint32_t>(i)];
  cub::BlockScan<std::uint32_t, kThreads>(storage).ExclusiveSum(sum, above);
  __syncthreads();  // all have read state
  for (int i = 0; i < kPer; ++i) {
    if (above < remaining && remaining <= above + counts[i]) {
      state[0] = prefix | (highest - static_cast<std::uint32_t>(i)) << shift;
      state[1] = remaining - above;
    }
    above += counts[i];
  }
}

inline unsigned select_blocks(std::int64_t n) { return blocks_for(ceil_div(n, 4), 2048); }

inline constexpr std::size_t kSelectScratch = 4 * 256 * sizeof(std::uint32_t);

/// Four sweeps over n elements, one per digit of 8 bits; scratch of kSelectScratch bytes.
inline void radix_select(const DeviceCall& c, const float* x, std::int64_t n, std::int64_t k, std::uint32_t* state) {
  std::uint32_t* bins = c.scratch_at<std::uint32_t>();
  cudaMemsetAsync(bins, 0, kSelectScratch, c.stream);
  for (int shift = 24; shift >= 0; shift -= 8, bins += 256) {
    const bool first = shift == 24;
    count_digits<8, 8>
        <<<select_blocks(n), kThreads, 0, c.stream>>>(Elements{x}, n, nullptr, shift, first ? nullptr : state, bins);
    choose_digit<8><<<1, kThreads, 0, c.stream>>>(bins, shift, first ? static_cast<std::uint32_t>(k) : 0U, state);
  }
}

}  // namespace stepcast::kernels
