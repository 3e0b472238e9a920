#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "kernels/code/permutation.hpp"
#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {
namespace {

// unsigned long long as CUDA's atomics and CUB know it; as wide as the descriptor's u64.
using Count = unsigned long long;
static_assert(sizeof(Count) == sizeof(std::uint64_t), "counts are 64 bits");

constexpr int kDigitBins = 256;
constexpr int kWarps = kThreads / 32;

struct DrawIndices {
  std::uint32_t* indices;
  std::uint64_t n, seed;
  __device__ void operator()(std::int64_t j) const { indices[j] = permuted(static_cast<std::uint64_t>(j), n, seed); }
};

struct Gather {
  const float* dense;
  const std::uint32_t* indices;
  float* values;
  __device__ void operator()(std::int64_t j) const { values[j] = dense[indices[j]]; }
};

struct Scatter {
  const std::uint32_t* indices;
  const float* values;
  float* dense;
  bool add;
  __device__ void operator()(std::int64_t j) const {
    float& target = dense[indices[j]];
    target = add ? target + values[j] : values[j];
  }
};

// Compaction. An element counts 1 in the low half of a Count where it is kept for sure, and 1 in the high half where it
// ties with the last one kept; the first `ties` of those in index order are kept.

struct AboveThreshold {
  __device__ Count operator()(float x) const { return magnitude(x) > kThreshold ? 1 : 0; }
  __device__ Count ties() const { return 0; }
};

struct AboveKey {
  const std::uint32_t* state;
  __device__ Count operator()(float x) const {
    const std::uint32_t key = magnitude_bits(x);
    return key > state[0] ? Count{1} : key == state[0] ? Count{1} << 32 : Count{0};
  }
  __device__ Count ties() const { return state[1]; }
};

/// One block a tile.
template <class Keep>
__global__ void count_tiles(const float* x, std::int64_t n, Keep keep, Count* counts) {
  __shared__ typename cub::BlockReduce<Count, kThreads>::TempStorage storage;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile, end = first + kTile < n ? first + kTile : n;
  Count mine = 0;
  for (std::int64_t i = first + threadIdx.x; i < end; i += kThreads) mine += keep(x[i]);
  const Count sum = cub::BlockReduce<Count, kThreads>(storage).Sum(mine);
  if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

/// Exclusive sums of the tiles' counts, by one block.
__global__ void scan_tiles(const Count* counts, std::int64_t tiles, Count* offsets) {
  __shared__ typename cub::BlockScan<Count, kThreads>::TempStorage storage;
  Count before = 0;
  for (std::int64_t base = 0; base < tiles; base += kThreads) {
    const std::int64_t tile = base + threadIdx.x;
    Count offset = 0, sum = 0;
    cub::BlockScan<Count, kThreads>(storage).ExclusiveSum(tile < tiles ? counts[tile] : Count{0}, offset, sum);
    if (tile < tiles) offsets[tile] = before + offset;
    before += sum;
    __syncthreads();  // the storage is used again
  }
}

/// One block a tile; the last one writes the total where it is wanted.
template <class Keep>
__global__ void write_kept(const float* x, std::int64_t n, Keep keep, const Count* offsets, float* values, std::uint32_t* indices, std::uint32_t* total) {
  __shared__ typename cub::BlockScan<Count, kThreads>::TempStorage storage;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile, end = first + kTile < n ? first + kTile : n;
  const Count ties = keep.ties();
  Count before = offsets[blockIdx.x];
  for (std::int64_t base = first; base < end; base += kThreads) {
    const std::int64_t i = base + threadIdx.x;
    const float value = i < end ? x[i] : 0.0F;
    const Count kind = i < end ? keep(value) : Count{0};
    Count offset = 0, sum = 0;
    cub::BlockScan<Count, kThreads>(storage).ExclusiveSum(kind, offset, sum);
    offset += before;
    const Count sure = offset & 0xffffffffU, tied = offset >> 32;
    if (kind == 1 || (kind > 1 && tied < ties)) {
      const Count place = sure + (tied < ties ? tied : ties);
      values[place] = value;
      indices[place] = static_cast<std::uint32_t>(i);
    }
    before += sum;
    __syncthreads();  // the storage is used again
  }
  if (total != nullptr && threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) *total = static_cast<std::uint32_t>(before & 0xffffffffU);
}

// Radix select. state = {digits of the key found so far, how many of the elements that begin so are still to be kept}.

__global__ void begin_select(std::uint32_t k, std::uint32_t* state) {
  state[0] = 0;
  state[1] = k;
}

/// How often each value of the digit occurs among keys that begin as state[0]. A histogram per warp, since the first
/// digits of gradients are much alike.
__global__ void count_digits(const float* x, std::int64_t n, int shift, const std::uint32_t* state, std::uint32_t* bins) {
  __shared__ std::uint32_t mine[kWarps][kDigitBins];
  for (int i = static_cast<int>(threadIdx.x); i < kWarps * kDigitBins; i += kThreads) (&mine[0][0])[i] = 0;
  __syncthreads();
  const std::uint64_t prefix = std::uint64_t{state[0]} >> (shift + 8);
  const std::int64_t groups = (n + 3) / 4, stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride) {
    const Pack<float> a = load(x, g, n);
    for (int k = 0; k < 4; ++k) {
      if (4 * g + k >= n) continue;
      const std::uint32_t key = magnitude_bits(a.v[k]);
      if ((std::uint64_t{key} >> (shift + 8)) == prefix) atomicAdd(&mine[threadIdx.x / 32][(key >> shift) & 0xffU], 1U);
    }
  }
  __syncthreads();
  for (int bin = static_cast<int>(threadIdx.x); bin < kDigitBins; bin += kThreads) {
    std::uint32_t sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += mine[warp][bin];
    if (sum != 0) atomicAdd(&bins[bin], sum);
  }
}

/// The digit in which the k-th key from above lies: thread t looks at digit 255 - t. One block.
__global__ void choose_digit(const std::uint32_t* bins, int shift, std::uint32_t* state) {
  static_assert(kThreads == kDigitBins, "one thread a bin");
  __shared__ typename cub::BlockScan<std::uint32_t, kThreads>::TempStorage storage;
  const std::uint32_t remaining = state[1], digit = kDigitBins - 1 - threadIdx.x, count = bins[digit];
  std::uint32_t above = 0;
  cub::BlockScan<std::uint32_t, kThreads>(storage).ExclusiveSum(count, above);
  __syncthreads();  // all have read state
  if (above < remaining && remaining <= above + count) {
    state[0] |= digit << shift;
    state[1] = remaining - above;
  }
}

template <class Op>
void over_kept(const DeviceCall& c, const Op& op) {
  const std::int64_t k = kept_of(c.n);
  sweep<<<blocks_for(k), kThreads, 0, c.stream>>>(k, op);
}

unsigned tiles_of(std::int64_t n) { return static_cast<unsigned>(ceil_div(n, kTile)); }

std::size_t tile_scratch(const DeviceCall& c) { return 2 * sizeof(Count) * tiles_of(c.n); }
std::size_t select_scratch(const DeviceCall&) { return 4 * kDigitBins * sizeof(std::uint32_t); }

void random_indices(const DeviceCall& c) { over_kept(c, DrawIndices{c.at<std::uint32_t>(0), static_cast<std::uint64_t>(c.n), c.seed}); }
void gather(const DeviceCall& c) { over_kept(c, Gather{c.at<float>(0), c.at<std::uint32_t>(1), c.at<float>(2)}); }
template <bool kAdd>
void scatter(const DeviceCall& c) {
  over_kept(c, Scatter{c.at<std::uint32_t>(0), c.at<float>(1), c.at<float>(2), kAdd});
}

void count_threshold(const DeviceCall& c) { count_tiles<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, AboveThreshold{}, c.at<Count>(1)); }

void compact_threshold(const DeviceCall& c) {
  Count* offsets = c.scratch_at<Count>();
  scan_tiles<<<1, kThreads, 0, c.stream>>>(c.at<Count>(1), tiles_of(c.n), offsets);
  write_kept<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, AboveThreshold{}, offsets, c.at<float>(2), c.at<std::uint32_t>(3), c.at<std::uint32_t>(4));
}

void radix_select(const DeviceCall& c) {
  std::uint32_t *state = c.at<std::uint32_t>(1), *bins = c.scratch_at<std::uint32_t>();
  cudaMemsetAsync(bins, 0, select_scratch(c), c.stream);
  begin_select<<<1, 1, 0, c.stream>>>(static_cast<std::uint32_t>(kept_of(c.n)), state);
  for (int shift = 24; shift >= 0; shift -= 8, bins += kDigitBins) {
    count_digits<<<blocks_for(ceil_div(c.n, 4), 2048), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, shift, state, bins);
    choose_digit<<<1, kThreads, 0, c.stream>>>(bins, shift, state);
  }
}

/// Counts, scans, writes: the counts need the key, so no earlier sweep can have made them.
void compact_top_k(const DeviceCall& c) {
  const AboveKey keep{c.at<std::uint32_t>(1)};
  Count *counts = c.scratch_at<Count>(), *offsets = counts + tiles_of(c.n);
  count_tiles<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, keep, counts);
  scan_tiles<<<1, kThreads, 0, c.stream>>>(counts, tiles_of(c.n), offsets);
  write_kept<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, keep, offsets, c.at<float>(2), c.at<std::uint32_t>(3), static_cast<std::uint32_t*>(nullptr));
}

}  // namespace

void add_sparsifier_launches(std::vector<Launch>& list) {
  list.push_back({"random-indices/random-k", random_indices, no_scratch});
  list.push_back({"gather/random-k", gather, no_scratch});
  list.push_back({"scatter/random-k", scatter<false>, no_scratch});
  list.push_back({"scatter-add/top-k", scatter<true>, no_scratch});
  list.push_back({"count/threshold", count_threshold, no_scratch});
  list.push_back({"compact/threshold", compact_threshold, tile_scratch});
  list.push_back({"radix-select/top-k", radix_select, select_scratch});
  list.push_back({"compact/top-k", compact_top_k, tile_scratch});
}

}  // namespace stepcast::kernels
