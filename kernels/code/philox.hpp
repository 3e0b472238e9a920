// Philox4x32-10, Salmon et al. 2011 (Parallel random numbers: as easy as 1, 2, 3): four random words from a counter and
// a key. Element i therefore has the same random number whoever computes it, and in any order.
#pragma once

#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

struct RandomWords {
  std::uint32_t word[4];
};

/// Ten rounds on counter (low word first) under key.
STEPCAST_SHARED RandomWords philox(RandomWords counter, std::uint32_t key0, std::uint32_t key1) {
  std::uint32_t* c = counter.word;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * c[0], b = std::uint64_t{0xCD9E8D57U} * c[2];
    const std::uint32_t next0 = static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0,
                        next2 = static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1;
    c[1] = static_cast<std::uint32_t>(b);
    c[3] = static_cast<std::uint32_t>(a);
    c[0] = next0;
    c[2] = next2;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

/// The random words of elements 4·group to 4·group + 3 under a seed.
STEPCAST_SHARED RandomWords random_words(std::uint64_t seed, std::uint64_t group) {
  return philox({{static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32), 0, 0}},
                static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// A multiple of 2^-24 in [0, 1), exact in float.
STEPCAST_SHARED float uniform(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

}  // namespace stepcast::kernels
