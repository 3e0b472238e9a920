// 3LC: ternary values, five to a byte, and runs of zero bytes. The largest magnitude is found by "max-abs/8-bit".
#include <algorithm>
#include <random>

#include "kernels/code/philox.hpp"
#include "kernels/code/three_lc.hpp"
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

std::int64_t quartic_count(std::int64_t n) { return ceil_div(n, 5); }
double quartic_bytes(std::int64_t n) { return static_cast<double>(quartic_count(n)); }

/// @returns the bytes written, at most `count`
std::uint32_t code_runs(const std::uint8_t* codes, std::int64_t count, std::uint8_t* runs) {
  std::uint32_t total = 0;
  for (std::int64_t tile = 0; tile < count; tile += kTile) {
    const std::int64_t end = std::min(count, tile + kTile);
    for (std::int64_t b = tile; b < end;) {
      int length = 0;
      while (length < kLongestRun && b + length < end && codes[b + length] == kZeroByte) ++length;
      runs[total++] = length == 0 ? codes[b] : run_code(length);
      b += std::max(length, 1);
    }
  }
  return total;
}

/// Decodes any message: missing bytes are zero, excess bytes are ignored.
std::vector<std::uint8_t> expand_runs(const std::uint8_t* runs, std::int64_t total, std::int64_t count) {
  std::vector<std::uint8_t> codes;
  for (std::int64_t r = 0; r < total; ++r)
    codes.insert(codes.end(), static_cast<std::size_t>(run_length(runs[r])),
                 runs[r] < kFirstRun ? runs[r] : static_cast<std::uint8_t>(kZeroByte));
  codes.resize(count, static_cast<std::uint8_t>(kZeroByte));
  return codes;
}

std::uint8_t code_of(const float* x, std::int64_t n, std::int64_t b, float scale) {
  int trits[5] = {0, 0, 0, 0, 0};
  for (std::int64_t i = 5 * b; i < std::min(n, 5 * b + 5); ++i) trits[i - 5 * b] = trit_of(x[i], scale);
  return quartic_code(trits);
}

/// The codes of a standard normal vector.
std::vector<std::uint8_t> normal_codes(const Call& c) {
  std::vector<float> x(c.n);
  std::mt19937_64 random(c.seed);
  std::normal_distribution<float> normal;
  float most = 0;
  for (float& value : x) most = std::max(most, magnitude(value = normal(random)));
  std::vector<std::uint8_t> codes(quartic_count(c.n));
  for (std::size_t b = 0; b < codes.size(); ++b)
    codes[b] = code_of(x.data(), c.n, static_cast<std::int64_t>(b), kSparsity * most);
  return codes;
}

/// For checks: bytes of which, by the seed, none, half, nine tenths or all are zero.
std::vector<std::uint8_t> random_codes(const Call& c) {
  constexpr std::uint32_t tenths[] = {0, 5, 9, 10};
  std::vector<std::uint8_t> codes(quartic_count(c.n));
  for (std::size_t b = 0; b < codes.size(); ++b) {
    const RandomWords random = random_words(c.seed, b);
    codes[b] =
        static_cast<std::uint8_t>(random.word[0] % 10 < tenths[c.seed % 4] ? kZeroByte : random.word[1] % kFirstRun);
  }
  return codes;
}

template <std::vector<std::uint8_t> (*kCodes)(const Call&)>
void put_codes(const Call& c) {
  const std::vector<std::uint8_t> codes = kCodes(c);
  std::copy(codes.begin(), codes.end(), c.at<std::uint8_t>(0));
}
template <std::vector<std::uint8_t> (*kCodes)(const Call&)>
void put_message(const Call& c) {
  const std::vector<std::uint8_t> codes = kCodes(c);
  c.at<std::uint32_t>(1)[0] = code_runs(codes.data(), quartic_count(c.n), c.at<std::uint8_t>(0));
}

}  // namespace

void add_three_lc(std::vector<Kernel>& list) {
  list.push_back({"quantize",
                  "3lc",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                               {"max", Element::f32, 1, Fill::scale},
                                               {"codes", Element::u8, quartic_count(n), Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(n) + quartic_bytes(n); },
                  linear(5),
                  [](const Call& c) {
                    const float scale = kSparsity * c.at<float>(1)[0];
                    for (std::int64_t b = 0; b < quartic_count(c.n); ++b)
                      c.at<std::uint8_t>(2)[b] = code_of(c.at<float>(0), c.n, b, scale);
                  }});
  // Bytes and their number. Counted as if no run were shortened, as the models assume.
  list.push_back({"zero-runs",
                  "3lc",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"codes", Element::u8, quartic_count(n), Fill::prepared},
                                               {"runs", Element::u8, quartic_count(n), Fill::zero, true},
                                               {"total", Element::u32, 1, Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 2 * quartic_bytes(n); },
                  [](std::int64_t n) { return 2 * quartic_bytes(n); },
                  [](const Call& c) {
                    c.at<std::uint32_t>(2)[0] =
                        code_runs(c.at<std::uint8_t>(0), quartic_count(c.n), c.at<std::uint8_t>(1));
                  },
                  put_codes<random_codes>});
  list.back().prepare_timed = put_codes<normal_codes>;
  for (const bool add : {false, true}) {
    list.push_back({add ? "decode-add" : "decode",
                    "3lc",
                    {},
                    [=](std::int64_t n) {
                      return std::vector<Buffer>{{"runs", Element::u8, quartic_count(n), Fill::prepared},
                                                 {"total", Element::u32, 1, Fill::prepared},
                                                 {"max", Element::f32, 1, Fill::scale},
                                                 {"dense", Element::f32, n, add ? Fill::values : Fill::zero, true}};
                    },
                    [=](std::int64_t n) { return quartic_bytes(n) + 4 + (add ? 8.0 : 4.0) * static_cast<double>(n); },
                    linear(add ? 4 : 3),
                    [=](const Call& c) {
                      const float scale = kSparsity * c.at<float>(2)[0];
                      float* dense = c.at<float>(3);
                      const std::vector<std::uint8_t> codes =
                          expand_runs(c.at<std::uint8_t>(0), c.at<std::uint32_t>(1)[0], quartic_count(c.n));
                      for (std::int64_t i = 0; i < c.n; ++i) {
                        const float value = three_lc_decode(codes[i / 5], static_cast<int>(i % 5), scale);
                        dense[i] = add ? dense[i] + value : value;
                      }
                    },
                    put_message<random_codes>});
    list.back().prepare_timed = put_message<normal_codes>;
  }
}

}  // namespace stepcast::kernels
