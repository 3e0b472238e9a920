// Messages of p workers are decoded and added in one sweep, in order of the messages. Message m's codes begin at
// m·message_stride(n) elements, its scales at m times their number. These are CodecKernels of the models where messages
// are gathered. Two are not: fp16, which is summed on the way, and SignSGD, which takes the majority.
#include "kernels/code/half.hpp"
#include "kernels/cpu/codes.hpp"
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

using Count = std::int64_t (*)(std::int64_t n);

std::int64_t elements(std::int64_t n) { return message_stride(n); }
std::int64_t quarters(std::int64_t n) { return ceil_div(n, 4); }
std::int64_t words(std::int64_t n) { return ceil_div(n, 32); }
std::int64_t none(std::int64_t) { return 0; }
std::int64_t one(std::int64_t) { return 1; }
std::int64_t two(std::int64_t) { return 2; }
std::int64_t buckets(std::int64_t n) { return ceil_div(n, kBucket); }
std::int64_t table(std::int64_t) { return kQuantiles; }

/// @param codes, scales  entries of one message
/// @param flops          of decoding an element
/// @param value          (call, message, i): element i as the message has it
template <class Value>
void add_sum(std::vector<Kernel>& list, const char* method, std::vector<std::int64_t> parameters, Element code,
             Count codes, Count scales, double flops, Value value) {
  parameters.insert(parameters.begin(), kMessages);
  list.push_back({"decode-sum", method, std::move(parameters),
                  [=](std::int64_t n) {
                    std::vector<Buffer> all = {{"messages", code, kMessages * codes(n), Fill::code}};
                    if (scales(n) > 0) all.push_back({"scales", Element::f32, kMessages * scales(n), Fill::scale});
                    all.push_back({"sum", Element::f32, n, Fill::zero, true});
                    return all;
                  },
                  [=](std::int64_t n) {
                    return static_cast<double>(kMessages) *
                               (static_cast<double>(codes(n)) * static_cast<double>(size_of(code)) +
                                4 * static_cast<double>(scales(n))) +
                           4 * static_cast<double>(n);
                  },
                  linear(static_cast<double>(kMessages) * (flops + 1)),
                  [=](const Call& c) {
                    float* sum = c.at<float>(scales(c.n) > 0 ? 2 : 1);
                    for (std::int64_t i = 0; i < c.n; ++i) {
                      sum[i] = 0;
                      for (std::int64_t m = 0; m < c.parameters[0]; ++m) sum[i] += value(c, m, i);
                    }
                  }});
}

template <class T>
T code_at(const Call& c, std::int64_t message, std::int64_t i) {
  return c.at<T>(0)[message * message_stride(c.n) + i];
}
bool bit_of(const Call& c, std::int64_t message, std::int64_t i) {
  return bit_at(c.at<std::uint32_t>(0) + message * words(c.n), i);
}

}  // namespace

void add_decode_sums(std::vector<Kernel>& list) {
  add_sum(list, "fp16", {}, Element::f16, elements, none, 1,
          [](const Call& c, std::int64_t m, std::int64_t i) { return float_of_half(code_at<std::uint16_t>(c, m, i)); });
  add_sum(list, "8-bit", {}, Element::u8, elements, one, 2,
          [table = eight_bit_table()](const Call& c, std::int64_t m, std::int64_t i) {
            return eight_bit_decode(code_at<std::uint8_t>(c, m, i), c.at<float>(1)[m], table);
          });
  add_sum(list, "qsgd", {kBucket, kLevels}, Element::u8, elements, buckets, 2,
          [](const Call& c, std::int64_t m, std::int64_t i) {
            return qsgd_decode(code_at<std::uint8_t>(c, m, i),
                               qsgd_step(c.at<float>(1)[m * buckets(c.n) + i / kBucket], kLevels), kLevels);
          });
  add_sum(list, "terngrad", {}, Element::u8, quarters, one, 1, [](const Call& c, std::int64_t m, std::int64_t i) {
    return ternary_decode((c.at<std::uint8_t>(0)[m * quarters(c.n) + i / 4] >> (2 * (i % 4))) & 3U, c.at<float>(1)[m]);
  });
  add_sum(list, "natural", {}, Element::u8, elements, none, 3,
          [](const Call& c, std::int64_t m, std::int64_t i) { return natural_decode(code_at<std::uint8_t>(c, m, i)); });
  add_sum(list, "signsgd", {}, Element::u32, words, none, 2,
          [](const Call& c, std::int64_t m, std::int64_t i) { return bit_of(c, m, i) ? 1.0F : -1.0F; });
  add_sum(list, "1-bit", {}, Element::u32, words, two, 1, [](const Call& c, std::int64_t m, std::int64_t i) {
    return c.at<float>(1)[2 * m + (bit_of(c, m, i) ? 1 : 0)];
  });
  add_sum(list, "ef-signsgd", {}, Element::u32, words, one, 1, [](const Call& c, std::int64_t m, std::int64_t i) {
    return bit_of(c, m, i) ? c.at<float>(1)[m] : -c.at<float>(1)[m];
  });
  add_sum(list, "sketchml", {kQuantiles}, Element::u8, elements, table, 1,
          [](const Call& c, std::int64_t m, std::int64_t i) {
            return c.at<float>(1)[m * kQuantiles + code_at<std::uint8_t>(c, m, i)];
          });
}

}  // namespace stepcast::kernels
