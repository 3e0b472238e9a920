// Top-k in two sweeps over the elements. The first counts the highest 11 bits of the magnitudes (all of the exponent,
// three of the mantissa). The second keeps the candidates, those at or above the bits of the k-th largest: 1.2 % of
// normal elements at k = n/100. The other 20 bits are found among the candidates, which are then compacted
// once more. A tile's candidates lie side by side in index order. Tiles get space in order of arrival, so no tile waits
// for another. If all elements are equal, all are candidates: slower, but still right.
#pragma once

#include "kernels/cuda/select.cuh"
#include "kernels/cuda/tiles.cuh"

namespace stepcast::kernels {

struct Candidates {
  std::uint32_t *firsts, *numbers;  ///< one entry for each tile
  float* values;
  std::uint32_t* indices;
  std::uint32_t* total;
};

struct AtLeastBits {
  std::uint32_t least;
  __device__ bool operator()(float x) const { return magnitude_bits(x) >= least; }
};

/// One block a tile. The lower bits of state's key are still 0.
static __global__ void keep_candidates(const float* x, std::int64_t n, const std::uint32_t* state, Candidates out) {
  __shared__ std::uint32_t first;
  TileElements mine;
  mine.read(x, n);
  const TileRanks ranks = rank_marked(mine.flags(n, AtLeastBits{state[0]}));
  if (threadIdx.x == 0) {
    first = atomicAdd(out.total, ranks.total);
    out.firsts[blockIdx.x] = first;
    out.numbers[blockIdx.x] = ranks.total;
  }
  __syncthreads();
  for (int round = 0; round < kRounds; ++round)
    for (int k = 0; k < 4; ++k)
      if (ranks.marked(round, k)) {
        const std::uint32_t place = first + ranks.rank(round, k);
        out.values[place] = mine.x[round].v[k];
        out.indices[place] = static_cast<std::uint32_t>(4 * tile_group(round) + k);
      }
}

/// One warp a tile: candidates above the key in the low half, those that tie with it in the high half.
static __global__ void count_candidates(Candidates in, std::int64_t tiles, const std::uint32_t* state, Count* counts) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (tile >= tiles) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t first = in.firsts[tile], number = in.numbers[tile], wanted = state[0];
  Count mine = 0;
  for (std::uint32_t j = lane; j < number; j += 32) {
    const std::uint32_t key = magnitude_bits(in.values[first + j]);
    mine += key > wanted ? Count{1} : key == wanted ? Count{1} << 32 : Count{0};
  }
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(kAllLanes, mine, offset);
  if (lane == 0) counts[tile] = mine;
}

/// One warp a tile: the candidates above the key, and the first of those that tie with it.
template <class Put>
__global__ void write_selected(Candidates in, std::int64_t tiles, const std::uint32_t* state, const Count* offsets,
                               Put put) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (tile >= tiles) return;
  const unsigned lane = threadIdx.x % 32, lower = (1U << lane) - 1;
  const std::uint32_t first = in.firsts[tile], number = in.numbers[tile], wanted = state[0], ties = state[1];
  std::uint32_t above = static_cast<std::uint32_t>(offsets[tile]),
                tied = static_cast<std::uint32_t>(offsets[tile] >> 32);
  for (std::uint32_t base = 0; base < number; base += 32) {
    const bool mine = base + lane < number;
    const float value = mine ? in.values[first + base + lane] : 0.0F;
    const std::uint32_t key = magnitude_bits(value);
    const unsigned larger = __ballot_sync(kAllLanes, mine && key > wanted),
                   equal = __ballot_sync(kAllLanes, mine && key == wanted);
    const std::uint32_t my_above = above + static_cast<std::uint32_t>(__popc(larger & lower)),
                        my_tied = tied + static_cast<std::uint32_t>(__popc(equal & lower));
    if (mine && (key > wanted || (key == wanted && my_tied < ties)))
      put(my_above + (my_tied < ties ? my_tied : ties), in.indices[first + base + lane], value);
    above += static_cast<std::uint32_t>(__popc(larger));
    tied += static_cast<std::uint32_t>(__popc(equal));
  }
}

struct TopKScratch {
  static constexpr std::size_t kBins = 2048 + 1024 + 1024;
  static std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
  std::size_t counts, offsets, firsts, numbers, values, indices,
      total;  ///< where each begins; bins, total and state first

  explicit TopKScratch(std::int64_t n) {
    const std::size_t tiles = tiles_of(n);
    counts = aligned((kBins + 3) * sizeof(std::uint32_t));
    offsets = counts + aligned(tiles * sizeof(Count));
    firsts = offsets + aligned(tiles * sizeof(Count));
    numbers = firsts + aligned(tiles * sizeof(std::uint32_t));
    values = numbers + aligned(tiles * sizeof(std::uint32_t));
    indices = values + aligned(static_cast<std::size_t>(n) * sizeof(float));
    total = indices + aligned(static_cast<std::size_t>(n) * sizeof(std::uint32_t));
  }
};

inline std::size_t top_k_scratch(const DeviceCall& c) { return TopKScratch(c.n).total; }

/// @param input  gives the elements; after its sweep, `x` holds them
template <class Input, class Put>
void select_and_compact(const DeviceCall& c, const Input& input, const float* x, std::int64_t k, const Put& put) {
  const TopKScratch at(c.n);
  std::uint32_t *bins = c.scratch_at<std::uint32_t>(), *found = bins + TopKScratch::kBins, *state = found + 1;
  const Candidates candidates{c.scratch_at<std::uint32_t>(at.firsts), c.scratch_at<std::uint32_t>(at.numbers),
                              c.scratch_at<float>(at.values), c.scratch_at<std::uint32_t>(at.indices), found};
  Count *counts = c.scratch_at<Count>(at.counts), *offsets = c.scratch_at<Count>(at.offsets);
  const std::int64_t tiles = tiles_of(c.n);
  const auto blocks = static_cast<unsigned>(ceil_div(tiles, kWarps));

  cudaMemsetAsync(bins, 0, (TopKScratch::kBins + 1) * sizeof(std::uint32_t), c.stream);
  count_digits<11, 4><<<select_blocks(c.n), kThreads, 0, c.stream>>>(input, c.n, nullptr, 20, nullptr, bins);
  choose_digit<11><<<1, kThreads, 0, c.stream>>>(bins, 20, static_cast<std::uint32_t>(k), state);
  keep_candidates<<<static_cast<unsigned>(tiles), kThreads, 0, c.stream>>>(x, c.n, state, candidates);
  // Candidates are few, but only the device knows how many.
  bins += 2048;
  for (const int shift : {10, 0}) {
    count_digits<10, 4><<<blocks_for(ceil_div(c.n, 64), 512), kThreads, 0, c.stream>>>(Elements{candidates.values}, 0,
                                                                                       found, shift, state, bins);
    choose_digit<10><<<1, kThreads, 0, c.stream>>>(bins, shift, 0, state);
    bins += 1024;
  }
  count_candidates<<<blocks, kThreads, 0, c.stream>>>(candidates, tiles, state, counts);
  scan(c, counts, tiles, offsets);
  write_selected<<<blocks, kThreads, 0, c.stream>>>(candidates, tiles, state, offsets, put);
}

}  // namespace stepcast::kernels
