// Compaction as the references do it: keeps elements tile by tile and in index order.
#pragma once

#include <algorithm>

#include "kernels/call.hpp"

namespace stepcast::kernels {

/// How many of each tile's elements are kept.
template <class Keep>
void count_tiles(const float* x, std::int64_t n, std::uint64_t* counts, Keep keep) {
  for (std::int64_t tile = 0; tile * kTile < n; ++tile)
    counts[tile] =
        static_cast<std::uint64_t>(std::count_if(x + tile * kTile, x + std::min(n, (tile + 1) * kTile), keep));
}

/// put(place, index) for each element kept, in index order.
/// @returns their number
template <class Keep, class Put>
std::uint32_t compact(const float* x, std::int64_t n, Keep keep, Put put) {
  std::uint32_t total = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (keep(x[i])) put(total++, static_cast<std::uint32_t>(i));
  return total;
}

}  // namespace stepcast::kernels
