// INCEPTIONN: tags by exponent, then the values of each width in index order. The message is the tags and the three
// arrays, each of which has room for n values.
#include <algorithm>

#include "kernels/code/inceptionn.hpp"
#include "kernels/code/philox.hpp"
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

// Shares of standard normal elements: P(|x| >= 1), P(2^-5 <= |x| < 1), P(2^-10 <= |x| < 2^-5).
constexpr double kShare32 = 0.317311, kShare16 = 0.657759, kShare8 = 0.024151;
constexpr double kValueBytes = 4 * kShare32 + 2 * kShare16 + kShare8;

double tag_bytes(std::int64_t n) { return static_cast<double>(ceil_div(n, 4)); }
std::uint32_t tag_at(const std::uint8_t* tags, std::int64_t i) { return (tags[i / 4] >> (2 * (i % 4))) & 3U; }

/// tags[i] = tag(i) for n elements; spare bits are 0.
template <class Tag>
void write_tags(std::uint8_t* tags, std::int64_t n, Tag tag) {
  std::fill_n(tags, ceil_div(n, 4), std::uint8_t{0});
  for (std::int64_t i = 0; i < n; ++i) tags[i / 4] = static_cast<std::uint8_t>(tags[i / 4] | tag(i) << (2 * (i % 4)));
}
void tag_exponents(const Call& c) {
  write_tags(c.at<std::uint8_t>(1), c.n, [&](std::int64_t i) { return exponent_tag(c.at<float>(0)[i]); });
}

std::vector<Buffer> value_buffers(std::int64_t n, Fill values, Fill codes) {
  const bool written = codes == Fill::zero;
  return {{"values", Element::f32, n, values, written},
          {"16 bits", Element::u8, 2 * n, codes, written},
          {"8 bits", Element::u8, n, codes, written}};
}

}  // namespace

void add_inceptionn(std::vector<Kernel>& list) {
  list.push_back({"tag-exponents",
                  "inceptionn",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                               {"tags", Element::u8, ceil_div(n, 4), Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(n) + tag_bytes(n); },
                  linear(6),
                  tag_exponents});
  // The bytes are those of standard normal input. totals: how many elements have 32, 16 and 8 bits.
  list.push_back({"compact-by-tag",
                  "inceptionn",
                  {},
                  [](std::int64_t n) {
                    std::vector<Buffer> all = {{"dense", Element::f32, n, Fill::values},
                                               {"tags", Element::u8, ceil_div(n, 4), Fill::prepared}};
                    for (const Buffer& buffer : value_buffers(n, Fill::zero, Fill::zero)) all.push_back(buffer);
                    all.push_back({"totals", Element::u32, 3, Fill::zero, true});
                    return all;
                  },
                  [](std::int64_t n) { return (4 + kValueBytes) * static_cast<double>(n) + tag_bytes(n); },
                  linear(6),
                  [](const Call& c) {
                    std::uint32_t totals[3] = {0, 0, 0};
                    for (std::int64_t i = 0; i < c.n; ++i) {
                      const float x = c.at<float>(0)[i];
                      switch (tag_at(c.at<std::uint8_t>(1), i)) {
                        case 3: c.at<float>(2)[totals[0]++] = x; break;
                        case 2: c.at<std::uint16_t>(3)[totals[1]++] = inceptionn_16(x); break;
                        case 1: c.at<std::uint8_t>(4)[totals[2]++] = inceptionn_8(x); break;
                        default: break;
                      }
                    }
                    std::copy_n(totals, 3, c.at<std::uint32_t>(5));
                  },
                  tag_exponents});
  for (const bool add : {false, true})
    list.push_back(
        {add ? "decode-add" : "decode",
         "inceptionn",
         {},
         [=](std::int64_t n) {
           std::vector<Buffer> all = {{"tags", Element::u8, ceil_div(n, 4), Fill::prepared}};
           for (const Buffer& buffer : value_buffers(n, Fill::values, Fill::code)) all.push_back(buffer);
           all.push_back({"dense", Element::f32, n, add ? Fill::values : Fill::zero, true});
           return all;
         },
         [=](std::int64_t n) { return (kValueBytes + (add ? 8 : 4)) * static_cast<double>(n) + tag_bytes(n); },
         linear(add ? 13 : 12),
         [=](const Call& c) {
           std::int64_t next[3] = {0, 0, 0};
           float* dense = c.at<float>(4);
           for (std::int64_t i = 0; i < c.n; ++i) {
             float value = 0;
             switch (tag_at(c.at<std::uint8_t>(0), i)) {
               case 3: value = c.at<float>(1)[next[0]++]; break;
               case 2: value = of_inceptionn_16(c.at<std::uint16_t>(2)[next[1]++]); break;
               case 1: value = of_inceptionn_8(c.at<std::uint8_t>(3)[next[2]++]); break;
               default: break;
             }
             dense[i] = add ? dense[i] + value : value;
           }
         },
         [](const Call& c) {
           write_tags(c.at<std::uint8_t>(0), c.n, [&](std::int64_t i) {
             const auto u =
                 static_cast<double>(uniform(random_words(c.seed, static_cast<std::uint64_t>(i) / 4).word[i % 4]));
             return u < kShare32 ? 3U : u < kShare32 + kShare16 ? 2U : u < kShare32 + kShare16 + kShare8 ? 1U : 0U;
           });
         }});
}

}  // namespace stepcast::kernels
