// 3LC, Lim et al. 2019. With the sparsity multiplier s of [1, 2), M = s·max|x|. An element becomes the trit t of -1, 0,
// 1 nearest to x/M. It stands for M·t, off by at most M/2. Five trits make a byte, Σ (t_k + 1)·3^(4-k) of 0 to 242,
// element 5b first. Elements beyond the last count as 0. Then a run of 2 to 14 bytes 121, five zeros each, becomes one
// byte 243 to 255. Runs do not cross tiles of kTile bytes, so that tiles can be coded side by side. M = 0: zeros. M not
// finite: trits 0, which decode to NaN.
#pragma once

#include "kernels/code/portable.hpp"

namespace stepcast::kernels {

inline constexpr std::uint32_t kZeroByte = 121;
inline constexpr std::uint32_t kFirstRun = 243;
inline constexpr int kLongestRun = 14;
inline constexpr std::uint64_t kPowersOfThree =
    1 | 3 << 7 | 9 << 14 | 27 << 21 | std::uint64_t{81} << 28;  // 3^k from bit 7k on

STEPCAST_SHARED int trit_of(float x, float scale) {
  if (!(magnitude(x) / scale >= 0.5F)) return 0;
  return x < 0 ? -1 : 1;
}

/// @param trits  of five elements
STEPCAST_SHARED std::uint8_t quartic_code(const int* trits) {
  int code = 0;
  for (int k = 0; k < 5; ++k) code = 3 * code + trits[k] + 1;
  return static_cast<std::uint8_t>(code);
}

/// Trit k of a byte; bytes above 242 hold only zeros.
STEPCAST_SHARED int trit_at(std::uint8_t code, int k) {
  if (code >= kFirstRun) return 0;
  // Multiply code/243, a fraction of 24 bits rounded up, by 3^k: the next digit of base 3 is then in front. The
  // rounding adds less than a 200th of the last digit.
  const std::uint32_t power = static_cast<std::uint32_t>(kPowersOfThree >> (7 * k)) & 127U;
  return static_cast<int>((((code * 69043U * power) & 0xffffffU) * 3) >> 24) - 1;
}

STEPCAST_SHARED float three_lc_decode(std::uint8_t code, int k, float scale) {
  return scale * static_cast<float>(trit_at(code, k));
}

/// The code of a run of `length` zero bytes, 1 to 14.
STEPCAST_SHARED std::uint8_t run_code(int length) {
  return static_cast<std::uint8_t>(length == 1 ? kZeroByte : kFirstRun + static_cast<std::uint32_t>(length) - 2);
}

/// The number of bytes that one byte of the message stands for.
STEPCAST_SHARED int run_length(std::uint8_t code) {
  return code >= kFirstRun ? static_cast<int>(code - kFirstRun) + 2 : 1;
}

}  // namespace stepcast::kernels
