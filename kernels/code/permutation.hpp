// A random permutation of 0 ... n-1; each entry can be computed alone. A Feistel network on the next even bit count is
// applied until its result is below n (Black and Rogaway 2002: Ciphers with arbitrary finite domains). The domain is
// below 4n, so this takes four steps or fewer on average. The first k entries are k distinct random indices. They need
// no sort, and all workers that share the seed get the same.
#pragma once

#include "kernels/code/philox.hpp"

namespace stepcast::kernels {

/// Bits of each half of the network: the least h >= 1 with 4^h >= n.
STEPCAST_SHARED int permutation_half_bits(std::uint64_t n) {
  int half = 1;
  while (half < 16 && (std::uint64_t{1} << (2 * half)) < n) ++half;
  return half;
}

/// Entry `index` of the seed's permutation.
/// @pre index < n <= 2^32
STEPCAST_SHARED std::uint32_t permuted(std::uint64_t index, std::uint64_t n, std::uint64_t seed) {
  const int half = permutation_half_bits(n);
  const std::uint32_t mask = (1U << half) - 1;
  std::uint64_t x = index;
  do {
    std::uint32_t left = static_cast<std::uint32_t>(x >> half), right = static_cast<std::uint32_t>(x) & mask;
    for (std::uint32_t round = 0; round < 4; ++round) {
      const std::uint32_t mixed = philox({{right, round, 0, 0x5065726dU}}, static_cast<std::uint32_t>(seed),
                                         static_cast<std::uint32_t>(seed >> 32))
                                      .word[0] &
                                  mask;
      const std::uint32_t next = left ^ mixed;
      left = right;
      right = next;
    }
    x = (static_cast<std::uint64_t>(left) << half) | right;
  } while (x >= n);
  return static_cast<std::uint32_t>(x);
}

}  // namespace stepcast::kernels
