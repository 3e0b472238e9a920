// Helpers that several CPU references of the codes share.
#pragma once

#include "kernels/call.hpp"
#include "kernels/code/quantizers.hpp"

namespace stepcast::kernels {

inline EightBitTable eight_bit_table() {
  EightBitTable table{};
  for (int i = 0; i < 128; ++i) set_entry(table, i);
  return table;
}

/// The random word of element i.
inline std::uint32_t random_word(const Call& call, std::int64_t i) {
  return random_words(call.seed, static_cast<std::uint64_t>(i) / 4).word[i % 4];
}

inline bool bit_at(const std::uint32_t* words, std::int64_t i) { return ((words[i / 32] >> (i % 32)) & 1U) != 0; }

/// Signs of n elements; spare bits are 0.
inline void pack_signs(const float* x, std::int64_t n, std::uint32_t* words) {
  for (std::int64_t w = 0; w < ceil_div(n, 32); ++w) {
    words[w] = 0;
    for (std::int64_t i = 32 * w; i < n && i < 32 * w + 32; ++i)
      words[w] |= static_cast<std::uint32_t>(sign_bit(x[i])) << (i % 32);
  }
}

}  // namespace stepcast::kernels
