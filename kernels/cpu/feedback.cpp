// Error feedback inside the encoder: c = g + e is encoded, and e becomes the part of c that the message leaves out.
// Buffer 0 is the gradient g, buffer 1 the residual e. Each kernel stands for four of the models: "add", the method's
// encoding, "decode" and "subtract". It is none of these itself. The four move 32n bytes and the codes twice; one sweep
// moves 12n and the codes once.
#include <algorithm>
#include <cmath>

#include "kernels/code/half.hpp"
#include "kernels/cpu/codes.hpp"
#include "kernels/cpu/lists.hpp"
#include "kernels/cpu/select.hpp"

namespace stepcast::kernels {
namespace {

constexpr const char* kPass = "compensate-encode-remember";

std::vector<Buffer> with_outputs(std::int64_t n, double tolerance, std::vector<Buffer> outputs) {
  outputs.insert(outputs.begin(), {{"gradient", Element::f32, n, Fill::values},
                                   {"residual", Element::f32, n, Fill::values, true, tolerance}});
  return outputs;
}

void compensate(const Call& c) {
  for (std::int64_t i = 0; i < c.n; ++i) c.at<float>(1)[i] += c.at<float>(0)[i];
}

/// sent(i, c_i) is the value as the message has it.
template <class Sent>
void remember(const Call& c, Sent sent) {
  for (std::int64_t i = 0; i < c.n; ++i) {
    float& e = c.at<float>(1)[i];
    e = e - sent(i, e);
  }
}

float bucket_norm(const float* x, std::int64_t n, std::int64_t bucket) {
  double sum = 0;
  for (std::int64_t i = bucket * kBucket; i < std::min(n, (bucket + 1) * kBucket); ++i)
    sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return static_cast<float>(std::sqrt(sum));
}

std::vector<Buffer> qsgd_outputs(std::int64_t n) {
  return {{"norms", Element::f32, ceil_div(n, kBucket), Fill::zero, true, kSumTolerance},
          {"codes", Element::u8, n, Fill::zero, true}};
}

std::uint8_t qsgd_code_of(const Call& c, const float* norms, std::int64_t i, float x) {
  return qsgd_code(x, qsgd_scale(norms[i / kBucket], kLevels), kLevels, random_word(c, i));
}

}  // namespace

void add_feedback(std::vector<Kernel>& list) {
  list.push_back(
      {kPass,
       "fp16",
       {},
       [](std::int64_t n) {
         return with_outputs(n, 0, {{"halves", Element::f16, n, Fill::zero, true}});
       },
       linear(14),
       linear(4),
       [](const Call& c) {
         compensate(c);
         remember(c, [&](std::int64_t i, float x) { return float_of_half(c.at<std::uint16_t>(2)[i] = half_bits(x)); });
       }});
  list.push_back({kPass,
                  "natural",
                  {},
                  [](std::int64_t n) {
                    return with_outputs(n, 0, {{"codes", Element::u8, n, Fill::zero, true}});
                  },
                  linear(13),
                  linear(10 + kRandomFlops),
                  [](const Call& c) {
                    compensate(c);
                    remember(c, [&](std::int64_t i, float x) {
                      return natural_decode(c.at<std::uint8_t>(2)[i] = natural_code(x, random_word(c, i)));
                    });
                  }});
  // Two sweeps, since codes need the largest. The first reads g and e and writes c; the second reads c and writes codes
  // and e.
  list.push_back(
      {kPass,
       "8-bit",
       {},
       [](std::int64_t n) {
         return with_outputs(n, 0,
                             {{"max", Element::f32, 1, Fill::zero, true}, {"codes", Element::u8, n, Fill::zero, true}});
       },
       linear(21, 8),
       linear(16),
       [](const Call& c) {
         compensate(c);
         std::uint32_t most = 0;
         for (std::int64_t i = 0; i < c.n; ++i) most = std::max(most, magnitude_bits(c.at<float>(1)[i]));
         const float largest = c.at<float>(2)[0] = float_of(most);
         const EightBitTable table = eight_bit_table();
         remember(c, [&](std::int64_t i, float x) {
           return eight_bit_decode(c.at<std::uint8_t>(3)[i] = eight_bit_code(x, largest, table), largest, table);
         });
       }});
  // Two sweeps. The first reads g and e and writes c and signs; the second reads c and writes e.
  list.push_back(
      {kPass,
       "ef-signsgd",
       {},
       [](std::int64_t n) {
         return with_outputs(n, kSumTolerance,
                             {{"mean", Element::f32, 1, Fill::zero, true, kSumTolerance},
                              {"signs", Element::u32, ceil_div(n, 32), Fill::zero, true}});
       },
       [](std::int64_t n) { return 20.0 * static_cast<double>(n) + static_cast<double>(ceil_div(n, 8)) + 4; },
       linear(6),
       [](const Call& c) {
         compensate(c);
         double sum = 0;
         for (std::int64_t i = 0; i < c.n; ++i) sum += static_cast<double>(magnitude(c.at<float>(1)[i]));
         const float mean = c.at<float>(2)[0] = static_cast<float>(sum / static_cast<double>(c.n));
         pack_signs(c.at<float>(1), c.n, c.at<std::uint32_t>(3));
         remember(c, [&](std::int64_t, float x) { return sign_bit(x) ? mean : -mean; });
       }});
  // One sweep: a warp holds a bucket while it finds its norm.
  const auto norms = [](std::int64_t n) { return 4.0 * static_cast<double>(ceil_div(n, kBucket)); };
  list.push_back({kPass,
                  "qsgd",
                  {kBucket, kLevels},
                  [](std::int64_t n) { return with_outputs(n, kSumTolerance, qsgd_outputs(n)); },
                  [=](std::int64_t n) { return 13.0 * static_cast<double>(n) + norms(n); },
                  linear(12 + kRandomFlops),
                  [](const Call& c) {
                    compensate(c);
                    float* norm = c.at<float>(2);
                    for (std::int64_t b = 0; b * kBucket < c.n; ++b) norm[b] = bucket_norm(c.at<float>(1), c.n, b);
                    remember(c, [&](std::int64_t i, float x) {
                      return qsgd_decode(c.at<std::uint8_t>(3)[i] = qsgd_code_of(c, norm, i, x),
                                         qsgd_step(norm[i / kBucket], kLevels), kLevels);
                    });
                  }});
  // The same without error feedback: "norm" and "quantize" of the models in one sweep.
  list.push_back({"norm-quantize",
                  "qsgd",
                  {kBucket, kLevels},
                  [](std::int64_t n) {
                    std::vector<Buffer> all = qsgd_outputs(n);
                    all.insert(all.begin(), {"dense", Element::f32, n, Fill::values});
                    return all;
                  },
                  [=](std::int64_t n) { return 5.0 * static_cast<double>(n) + norms(n); },
                  linear(8 + kRandomFlops),
                  [](const Call& c) {
                    float* norm = c.at<float>(1);
                    for (std::int64_t b = 0; b * kBucket < c.n; ++b) norm[b] = bucket_norm(c.at<float>(0), c.n, b);
                    for (std::int64_t i = 0; i < c.n; ++i)
                      c.at<std::uint8_t>(2)[i] = qsgd_code_of(c, norm, i, c.at<float>(0)[i]);
                  }});
  // Two sweeps as in "select-compact"; the first also adds. Afterwards e is 0 where an element was sent.
  list.push_back({kPass,
                  "top-k",
                  {},
                  [](std::int64_t n) {
                    return with_outputs(n, 0,
                                        {{"values", Element::f32, kept_of(n), Fill::zero, true},
                                         {"indices", Element::u32, kept_of(n), Fill::zero, true}});
                  },
                  [](std::int64_t n) { return 16.0 * static_cast<double>(n) + 12.0 * static_cast<double>(kept_of(n)); },
                  linear(5),
                  [](const Call& c) {
                    compensate(c);
                    compact_selected(c.at<float>(1), c.n, select_largest(c.at<float>(1), c.n, kept_of(c.n)),
                                     c.at<float>(2), c.at<std::uint32_t>(3));
                    for (std::int64_t j = 0; j < kept_of(c.n); ++j) c.at<float>(1)[c.at<std::uint32_t>(3)[j]] = 0;
                  }});
}

}  // namespace stepcast::kernels
