// 8-bit, QSGD, TernGrad, natural compression: scales by reductions, then codes.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/codes.hpp"
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

void add_eight_bit(std::vector<Kernel>& list) {
  list.push_back({"max-abs",
                  "8-bit",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                               {"max", Element::f32, 1, Fill::zero, true}};
                  },
                  linear(4, 4),
                  linear(2),
                  [](const Call& c) {
                    std::uint32_t most = 0;
                    for (std::int64_t i = 0; i < c.n; ++i) most = std::max(most, magnitude_bits(c.at<float>(0)[i]));
                    c.at<float>(1)[0] = float_of(most);
                  }});
  list.push_back({"quantize",
                  "8-bit",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                               {"max", Element::f32, 1, Fill::scale},
                                               {"codes", Element::u8, n, Fill::zero, true}};
                  },
                  linear(5, 4),
                  linear(10),
                  [](const Call& c) {
                    const EightBitTable table = eight_bit_table();
                    for (std::int64_t i = 0; i < c.n; ++i)
                      c.at<std::uint8_t>(2)[i] = eight_bit_code(c.at<float>(0)[i], c.at<float>(1)[0], table);
                  }});
  add_decoders(
      list, "8-bit", {},
      [](std::int64_t n) {
        return std::vector<Buffer>{{"codes", Element::u8, n, Fill::code}, {"max", Element::f32, 1, Fill::scale}};
      },
      linear(1, 4), 2,
      [table = eight_bit_table()](const Call& c, std::int64_t i) {
        return eight_bit_decode(c.at<std::uint8_t>(0)[i], c.at<float>(1)[0], table);
      });
}

void add_qsgd(std::vector<Kernel>& list) {
  const auto norms = [](std::int64_t n) { return 4.0 * static_cast<double>(ceil_div(n, kBucket)); };
  // |x|₂ of each bucket of b elements.
  list.push_back({"norm",
                  "qsgd",
                  {kBucket},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{
                        {"dense", Element::f32, n, Fill::values},
                        {"norms", Element::f32, ceil_div(n, kBucket), Fill::zero, true, kSumTolerance}};
                  },
                  [=](std::int64_t n) { return 4.0 * static_cast<double>(n) + norms(n); },
                  linear(2),
                  [](const Call& c) {
                    for (std::int64_t b = 0; b * kBucket < c.n; ++b) {
                      double sum = 0;
                      for (std::int64_t i = b * kBucket; i < std::min(c.n, (b + 1) * kBucket); ++i)
                        sum += static_cast<double>(c.at<float>(0)[i]) * static_cast<double>(c.at<float>(0)[i]);
                      c.at<float>(1)[b] = static_cast<float>(std::sqrt(sum));
                    }
                  }});
  list.push_back({"quantize",
                  "qsgd",
                  {kBucket, kLevels},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                               {"norms", Element::f32, ceil_div(n, kBucket), Fill::scale},
                                               {"codes", Element::u8, n, Fill::zero, true}};
                  },
                  [=](std::int64_t n) { return 5.0 * static_cast<double>(n) + 2 * norms(n); },
                  linear(6 + kRandomFlops),
                  [](const Call& c) {
                    for (std::int64_t i = 0; i < c.n; ++i)
                      c.at<std::uint8_t>(2)[i] =
                          qsgd_code(c.at<float>(0)[i], qsgd_scale(c.at<float>(1)[i / kBucket], kLevels), kLevels,
                                    random_word(c, i));
                  }});
  add_decoders(
      list, "qsgd", {kBucket, kLevels},
      [](std::int64_t n) {
        return std::vector<Buffer>{{"codes", Element::u8, n, Fill::code},
                                   {"norms", Element::f32, ceil_div(n, kBucket), Fill::scale}};
      },
      [=](std::int64_t n) { return static_cast<double>(n) + norms(n); }, 2,
      [](const Call& c, std::int64_t i) {
        return qsgd_decode(c.at<std::uint8_t>(0)[i], qsgd_step(c.at<float>(1)[i / kBucket], kLevels), kLevels);
      });
}

void add_terngrad(std::vector<Kernel>& list) {
  // Mean, and standard deviation sqrt(max(0, E[x²] - E[x]²)); sums in double.
  list.push_back({"moments",
                  "terngrad",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                               {"moments", Element::f32, 2, Fill::zero, true, 1e-5}};
                  },
                  linear(4, 8),
                  linear(3),
                  [](const Call& c) {
                    double sum = 0, squares = 0;
                    for (std::int64_t i = 0; i < c.n; ++i) {
                      const double x = static_cast<double>(c.at<float>(0)[i]);
                      sum += x;
                      squares += x * x;
                    }
                    const double mean = sum / static_cast<double>(c.n),
                                 variance = squares / static_cast<double>(c.n) - mean * mean;
                    c.at<float>(1)[0] = static_cast<float>(mean);
                    c.at<float>(1)[1] = static_cast<float>(variance < 0 ? 0.0 : std::sqrt(variance));
                  }});
  // Largest magnitude after clipping at 2.5 deviations.
  list.push_back({"clipped-max",
                  "terngrad",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                               {"moments", Element::f32, 2, Fill::scale},
                                               {"scale", Element::f32, 1, Fill::zero, true}};
                  },
                  linear(4, 4),
                  linear(3),
                  [](const Call& c) {
                    std::uint32_t most = 0;
                    for (std::int64_t i = 0; i < c.n; ++i)
                      most = std::max(most, bits_of(clip(c.at<float>(0)[i], kTernaryClip * c.at<float>(1)[1])));
                    c.at<float>(2)[0] = float_of(most);
                  }});
  list.push_back(
      {"quantize",
       "terngrad",
       {},
       [](std::int64_t n) {
         return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                    {"moments", Element::f32, 2, Fill::scale},
                                    {"scale", Element::f32, 1, Fill::scale},
                                    {"codes", Element::u8, ceil_div(n, 4), Fill::zero, true}};
       },
       [](std::int64_t n) { return 4.0 * static_cast<double>(n) + static_cast<double>(ceil_div(n, 4)) + 4; },
       linear(4 + kRandomFlops),
       [](const Call& c) {
         std::uint8_t* codes = c.at<std::uint8_t>(3);
         std::fill(codes, codes + ceil_div(c.n, 4), std::uint8_t{0});
         for (std::int64_t i = 0; i < c.n; ++i)
           codes[i / 4] = static_cast<std::uint8_t>(
               codes[i / 4] |
               ternary_code(c.at<float>(0)[i], kTernaryClip * c.at<float>(1)[1], c.at<float>(2)[0], random_word(c, i))
                   << (2 * (i % 4)));
       }});
  add_decoders(
      list, "terngrad", {},
      [](std::int64_t n) {
        return std::vector<Buffer>{{"codes", Element::u8, ceil_div(n, 4), Fill::code},
                                   {"scale", Element::f32, 1, Fill::scale}};
      },
      [](std::int64_t n) { return static_cast<double>(ceil_div(n, 4)) + 4; }, 1,
      [](const Call& c, std::int64_t i) {
        return ternary_decode((c.at<std::uint8_t>(0)[i / 4] >> (2 * (i % 4))) & 3U, c.at<float>(1)[0]);
      });
}

void add_natural(std::vector<Kernel>& list) {
  list.push_back({"round-exponent",
                  "natural",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                               {"codes", Element::u8, n, Fill::zero, true}};
                  },
                  linear(5),
                  linear(5 + kRandomFlops),
                  [](const Call& c) {
                    for (std::int64_t i = 0; i < c.n; ++i)
                      c.at<std::uint8_t>(1)[i] = natural_code(c.at<float>(0)[i], random_word(c, i));
                  }});
  add_decoders(
      list, "natural", {},
      [](std::int64_t n) {
        return std::vector<Buffer>{{"codes", Element::u8, n, Fill::code}};
      },
      linear(1), 3, [](const Call& c, std::int64_t i) { return natural_decode(c.at<std::uint8_t>(0)[i]); });
}

}  // namespace

void add_quantizers(std::vector<Kernel>& list) {
  add_eight_bit(list);
  add_qsgd(list);
  add_terngrad(list);
  add_natural(list);
}

}  // namespace stepcast::kernels
