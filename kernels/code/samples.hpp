// The elements that a threshold is estimated from, and those that reach it. Thresholds are compared as keys: NaN counts
// as the largest magnitude.
#pragma once

#include "kernels/code/philox.hpp"
#include "kernels/code/search_tree.hpp"

namespace stepcast::kernels {

/// Index of DGC's sample j: uniform below n, drawn with replacement, as GRACE draws it.
/// @pre n <= 2^32
STEPCAST_SHARED std::uint64_t sample_index(std::uint64_t seed, std::uint64_t j, std::uint64_t n) {
  return (random_words(seed, j / 4).word[j % 4] * n) >> 32;
}

STEPCAST_SHARED bool of_sign(float x, int sign) { return sign > 0 ? x > 0 : x < 0; }

/// Draws until an element has the sign: two on average if both signs are equally likely. After this many, the sample is
/// 0.
inline constexpr int kSampleTries = 32;

/// Magnitude of the sign's sample j.
/// @param sign  1 or -1; zero and NaN have neither sign
STEPCAST_SHARED float sign_sample(const float* x, std::uint64_t n, int sign, std::uint64_t seed, std::uint64_t j) {
  for (std::uint32_t group = 0; group < kSampleTries / 4; ++group) {
    const RandomWords random =
        philox({{static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(j >> 32), group, 0x7369676eU}},
               static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    for (int k = 0; k < 4; ++k) {
      const float value = x[(random.word[k] * n) >> 32];
      if (of_sign(value, sign)) return magnitude(value);
    }
  }
  return 0;
}

STEPCAST_SHARED bool reaches(float x, float threshold) { return magnitude_bits(x) >= magnitude_bits(threshold); }

/// Bits that are ordered as floats are: -0 equals 0, NaN lies beyond the infinity of its sign.
STEPCAST_SHARED std::uint32_t ordered_bits(float x) {
  const std::uint32_t bits = bits_of(x) == 0x80000000U ? 0U : bits_of(x);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

inline constexpr int kQuantileLevels = 8;

/// SketchML's code: how many of 255 edges are not above x.
/// @param tree  of the edges' ordered_bits (search_tree.hpp)
STEPCAST_SHARED std::uint8_t quantile_of(float x, const std::uint32_t* tree) {
  return static_cast<std::uint8_t>(
      count_below(tree, kQuantileLevels, [key = ordered_bits(x)](std::uint32_t edge) { return edge <= key; }));
}

}  // namespace stepcast::kernels
