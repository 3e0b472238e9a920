// Compaction in index order, in tiles of kTile elements, one block a tile: count, scan the counts, write.
#pragma once

#include <cub/block/block_scan.cuh>

#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {

// unsigned long long as CUDA's atomics and CUB know it; as wide as the descriptor's u64.
using Count = unsigned long long;
static_assert(sizeof(Count) == sizeof(std::uint64_t), "counts are 64 bits");

inline constexpr int kWarps = kThreads / 32;
inline constexpr unsigned kAllLanes = 0xffffffffU;

/// Groups of four elements that a thread has of its tile. A warp's elements are contiguous: round by round, in a round
/// lane by lane.
inline constexpr int kRounds = 4;
static_assert(kTile == kThreads * kRounds * 4, "a tile is a block's");

__device__ inline std::int64_t tile_group(int round) {
  return static_cast<std::int64_t>(blockIdx.x) * (kTile / 4) + (threadIdx.x / 32) * (32 * kRounds) +
         static_cast<unsigned>(round) * 32 + threadIdx.x % 32;
}

/// Where each thread's marked elements stand among the tile's, in index order.
struct TileRanks {
  std::uint32_t flags;           ///< bit 4·round + k
  std::uint32_t first[kRounds];  ///< marked elements before the thread's of a round
  std::uint32_t total;           ///< marked elements of the tile

  __device__ bool marked(int round, int k) const { return ((flags >> (4 * round + k)) & 1U) != 0; }
  __device__ std::uint32_t rank(int round, int k) const {
    return first[round] + static_cast<std::uint32_t>(__popc((flags >> (4 * round)) & ((1U << k) - 1)));
  }
};

/// All threads of the block must call it.
__device__ inline TileRanks rank_marked(std::uint32_t flags) {
  __shared__ std::uint32_t warps[kWarps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // The four rounds' counts in a byte each: a warp's are at most 128.
  std::uint32_t counts = 0;
  for (int round = 0; round < kRounds; ++round)
    counts |= static_cast<std::uint32_t>(__popc((flags >> (4 * round)) & 0xfU)) << (8 * round);
  std::uint32_t sums = counts;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const std::uint32_t below = __shfl_up_sync(kAllLanes, sums, offset);
    if (lane >= offset) sums += below;
  }
  const std::uint32_t totals = __shfl_sync(kAllLanes, sums, 31), before = sums - counts;
  TileRanks ranks{flags, {}, 0};
  std::uint32_t rounds = 0;
  for (int round = 0; round < kRounds; ++round) {
    ranks.first[round] = rounds + ((before >> (8 * round)) & 0xffU);
    rounds += (totals >> (8 * round)) & 0xffU;
  }
  if (lane == 0) warps[warp] = rounds;
  __syncthreads();
  std::uint32_t others = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w < warp) others += warps[w];
    ranks.total += warps[w];
  }
  for (int round = 0; round < kRounds; ++round) ranks.first[round] += others;
  __syncthreads();  // the storage is used again
  return ranks;
}

/// The thread's elements of its tile, and which of them mark(x) marks.
struct TileElements {
  Pack<float> x[kRounds];

  __device__ void read(const float* data, std::int64_t n) {
    for (int round = 0; round < kRounds; ++round) x[round] = load(data, tile_group(round), n);
  }
  template <class Mark>
  __device__ std::uint32_t flags(std::int64_t n, const Mark& mark) const {
    std::uint32_t result = 0;
    for (int round = 0; round < kRounds; ++round)
      for (int k = 0; k < 4; ++k)
        if (4 * tile_group(round) + k < n && mark(x[round].v[k])) result |= 1U << (4 * round + k);
    return result;
  }
};

/// The thread's test for marking elements. It is the kernel's argument; an overload may make it from numbers in
/// device memory, loaded once.
template <class Keep>
__device__ const Keep& loaded(const Keep& keep) {
  return keep;
}

template <class Keep>
__global__ void count_tiles(const float* x, std::int64_t n, Keep keep, Count* counts) {
  TileElements mine;
  mine.read(x, n);
  const TileRanks ranks = rank_marked(mine.flags(n, loaded(keep)));
  if (threadIdx.x == 0) counts[blockIdx.x] = ranks.total;
}

/// Exclusive sums of the tiles' counts, by one block of kScanThreads.
template <int kScanThreads>
__global__ void __launch_bounds__(kScanThreads) scan_tiles(const Count* counts, std::int64_t tiles, Count* offsets) {
  using Scan =
      cub::BlockScan<Count, kScanThreads, cub::BLOCK_SCAN_WARP_SCANS>;  // raking needs more registers than there are
  constexpr int kItems = 8;
  __shared__ typename Scan::TempStorage storage;
  Count before = 0;
  for (std::int64_t base = 0; base < tiles; base += kItems * kScanThreads) {
    const std::int64_t first = base + kItems * static_cast<std::int64_t>(threadIdx.x);
    Count items[kItems];
    for (int k = 0; k < kItems; ++k) items[k] = first + k < tiles ? counts[first + k] : Count{0};
    Count sum = 0;
    Scan(storage).ExclusiveSum(items, items, sum);
    for (int k = 0; k < kItems; ++k)
      if (first + k < tiles) offsets[first + k] = before + items[k];
    before += sum;
    __syncthreads();  // the storage is used again
  }
}

/// put(place, index, value) for each element kept; the last block writes the total.
template <class Keep, class Put>
__global__ void write_kept(const float* x, std::int64_t n, Keep keep, const Count* offsets, Put put,
                           std::uint32_t* total) {
  TileElements mine;
  mine.read(x, n);
  const TileRanks ranks = rank_marked(mine.flags(n, loaded(keep)));
  const Count before = offsets[blockIdx.x];
  for (int round = 0; round < kRounds; ++round)
    for (int k = 0; k < 4; ++k)
      if (ranks.marked(round, k))
        put(before + ranks.rank(round, k), static_cast<std::uint32_t>(4 * tile_group(round) + k), mine.x[round].v[k]);
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) *total = static_cast<std::uint32_t>(before + ranks.total);
}

struct PutValueAndIndex {
  float* values;
  std::uint32_t* indices;
  __device__ void operator()(Count place, std::uint32_t index, float value) const {
    values[place] = value;
    indices[place] = index;
  }
};

inline unsigned tiles_of(std::int64_t n) { return static_cast<unsigned>(ceil_div(n, kTile)); }

inline void scan(const DeviceCall& c, const Count* counts, std::int64_t tiles, Count* offsets) {
  scan_tiles<1024><<<1, 1024, 0, c.stream>>>(counts, tiles, offsets);
}

/// Scratch for the offsets of n elements' tiles.
inline std::size_t offset_scratch(const DeviceCall& c) { return sizeof(Count) * tiles_of(c.n); }

}  // namespace stepcast::kernels
