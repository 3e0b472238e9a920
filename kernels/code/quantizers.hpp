// Codes of one element for each quantizer: encoding and decoding. Decoding is total: every byte has a value.
#pragma once

#include "kernels/code/philox.hpp"
#include "kernels/code/search_tree.hpp"

namespace stepcast::kernels {

// 8-bit, Dettmers 2016: y = |x|/max|x| becomes the nearest of 128 values of a dynamic exponent; bit 7 is the sign. Code
// 0 is 0. Another code has 7 bits: e leading zeros, a 1, and then the b = 6 - e bits f. It stands for 10^-e·(0.1 +
// 0.9·(f+1)/2^b): code 127 is 1, code 1 is 10^-6. The error is at most half the widest gap, which is at e = 0: 0.45/64
// of max|x|. If max|x| = 0, the code is 0. A NaN or infinity makes max|x| so, and everything decodes to NaN or
// infinity.

/// Value of code 0 to 127.
STEPCAST_SHARED float eight_bit_value(int code) {
  if (code == 0) return 0;
  int bits = 6;  // b
  float scale = 1;
  for (; (code >> bits) == 0; --bits) scale = scale / 10;
  const int count = 1 << bits;
  return scale * (0.1F + 0.9F * (static_cast<float>(code - count + 1) / static_cast<float>(count)));
}

/// Edge c is the middle between the values of codes c and c + 1.
STEPCAST_SHARED float eight_bit_edge(int code) { return (eight_bit_value(code) + eight_bit_value(code + 1)) / 2; }

inline constexpr int kEightBitLevels = 7;

struct EightBitTable {
  float values[128];
  float tree[128];  ///< search tree over the 127 edges (search_tree.hpp)
};

STEPCAST_SHARED void set_entry(EightBitTable& table, int i) {
  table.values[i] = eight_bit_value(i);
  table.tree[i] = i == 0 ? 0 : eight_bit_edge(edge_of_node(i, kEightBitLevels));
}

/// No edge is below 0/0 or NaN: their code is 0.
STEPCAST_SHARED std::uint8_t eight_bit_code(float x, float max_abs, const EightBitTable& table) {
  const int code =
      count_below(table.tree, kEightBitLevels, [y = magnitude(x) / max_abs](float edge) { return edge < y; });
  return static_cast<std::uint8_t>(code | (x < 0 ? 0x80 : 0));
}

STEPCAST_SHARED float eight_bit_decode(std::uint8_t code, float max_abs, const EightBitTable& table) {
  const float value = table.values[code & 0x7f] * max_abs;
  return (code & 0x80) != 0 ? -value : value;
}

// QSGD, Alistarh et al. 2017, with s levels and the norm N = |x|₂ of the bucket. The level r = s|x|/N is rounded down
// or, with probability r - floor(r), up: unbiased. The code is sign·level + s, one of 2s + 1 <= 255 values.
// |error| < N/s. N = 0: level 0. N not finite: level 0, which decodes to NaN. A bucket needs one division: s/N for
// coding, or N/s, the distance of two levels, for decoding. N/s is a normal float if N is at least 2^-118.

/// s/N of a bucket. Its numbers are first lifted so that s/N is finite.
struct QsgdScale {
  float lift, factor;
};

STEPCAST_SHARED QsgdScale qsgd_scale(float norm, int levels) {
  const float lift = norm < 0x1p-100F ? 0x1p64F : 1.0F;
  return {lift, static_cast<float>(levels) / (norm * lift)};
}

STEPCAST_SHARED std::uint8_t qsgd_code(float x, const QsgdScale& scale, int levels, std::uint32_t random) {
  const float r = magnitude(x) * scale.lift * scale.factor;
  int level = 0;
  if (r > 0) {
    // |x| <= N, but rounding may carry r just above s.
    level = r >= static_cast<float>(levels) ? levels : static_cast<int>(r);
    if (level < levels && uniform(random) < r - static_cast<float>(level)) ++level;
  }
  return static_cast<std::uint8_t>(levels + (x < 0 ? -level : level));
}

STEPCAST_SHARED float qsgd_step(float norm, int levels) { return norm / static_cast<float>(levels); }

/// @param step  qsgd_step of the bucket
STEPCAST_SHARED float qsgd_decode(std::uint8_t code, float step, int levels) {
  return step * static_cast<float>(static_cast<int>(code) - levels);
}

// TernGrad, Wen et al. 2017. |x| is clipped at c = 2.5 standard deviations; S is the largest after clipping. The
// element becomes sign(x)·S with probability |x|/S, else 0: unbiased for the clipped gradient. Codes have 2 bits: 0, 1
// (+), 2 (-); 3 is 0. If S is 0 or NaN, the code is 0. The random number is multiplied by S, which replaces a division
// of |x| by S. Both agree but for rounding, which is coarse if S is below a float's normal numbers.

STEPCAST_SHARED float clip(float x, float limit) { return magnitude(x) > limit ? limit : magnitude(x); }

STEPCAST_SHARED std::uint32_t ternary_code(float x, float limit, float scale, std::uint32_t random) {
  if (!(uniform(random) * scale < clip(x, limit))) return 0;
  return x < 0 ? 2U : 1U;
}

STEPCAST_SHARED float ternary_decode(std::uint32_t code, float scale) {
  const int value = static_cast<int>(code & 1U) - static_cast<int>((code >> 1) & 1U);
  return value == 0 ? 0.0F : value > 0 ? scale : -scale;
}

// Natural compression, Horváth et al. 2019: m·2^e, with m in [1, 2), becomes 2^(e+1) with probability m - 1, else 2^e.
// This is unbiased. The code has the sign and 7 bits: 0 for zero, or e + 111 for e from -110 to 16. Smaller magnitudes
// become 0. Larger ones and infinities become the largest, 2^16. NaN does too, without its sign.

STEPCAST_SHARED std::uint8_t natural_code(float x, std::uint32_t random) {
  const std::uint32_t m = magnitude_bits(x);
  if (m > 0x7f800000U) return 0x7f;  // a computed NaN's sign differs between CPU and GPU
  const std::uint32_t sign = (bits_of(x) >> 24) & 0x80U;
  // The mantissa carries into the exponent with probability mantissa/2^23.
  const int exponent = m >= 0x7f800000U ? 128 : static_cast<int>((m + (random >> 9)) >> 23) - 127;
  if (exponent < -110) return static_cast<std::uint8_t>(sign);
  return static_cast<std::uint8_t>(sign | static_cast<std::uint32_t>((exponent > 16 ? 16 : exponent) + 111));
}

STEPCAST_SHARED float natural_decode(std::uint8_t code) {
  const std::uint32_t low = code & 0x7fU, sign = static_cast<std::uint32_t>(code & 0x80U) << 24;
  return float_of(low == 0 ? sign : sign | ((low + 127 - 111) << 23));
}

// Signs: a bit is 1 if x is not below zero, so also for 0, -0 and NaN. Element i is bit i mod 32 of word i/32; spare
// bits are 0.

STEPCAST_SHARED bool sign_bit(float x) { return !(x < 0); }

/// Majority of the words of p messages, `stride` words apart; a tie is 1. It counts in bit-sliced form: plane j holds
/// bit j of 32 counters.
/// @pre p <= 255
STEPCAST_SHARED std::uint32_t majority_word(const std::uint32_t* words, std::int64_t stride, int p) {
  std::uint32_t plane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int message = 0; message < p; ++message) {
    std::uint32_t carry = words[message * stride];
    for (int j = 0; j < 8; ++j) {
      const std::uint32_t sum = plane[j] ^ carry;
      carry &= plane[j];
      plane[j] = sum;
    }
  }
  // count >= ceil(p/2), compared from the highest bit.
  const int least = (p + 1) / 2;
  std::uint32_t above = 0, equal = 0xffffffffU;
  for (int j = 7; j >= 0; --j) {
    if (((least >> j) & 1) != 0) equal &= plane[j];
    else {
      above |= equal & plane[j];
      equal &= ~plane[j];
    }
  }
  return above | equal;
}

}  // namespace stepcast::kernels
