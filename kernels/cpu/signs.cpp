// One bit an element: SignSGD, 1-bit SGD, EF-SignSGD. Words of 32 elements; messages are ceil(n/8) bytes of them.
#include "kernels/cpu/codes.hpp"
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

double sign_bytes(std::int64_t n) { return static_cast<double>(ceil_div(n, 8)); }

bool bit(const Call& call, std::int64_t i) { return bit_at(call.at<std::uint32_t>(0), i); }

}  // namespace

void add_signs(std::vector<Kernel>& list) {
  const auto dense = [](std::int64_t n) { return Buffer{"dense", Element::f32, n, Fill::values}; };
  const auto words = [](std::int64_t n) { return Buffer{"signs", Element::u32, ceil_div(n, 32), Fill::zero, true}; };
  const auto coded = [](std::int64_t n) { return Buffer{"signs", Element::u32, ceil_div(n, 32), Fill::code}; };

  list.push_back({"sign-pack",
                  "signsgd",
                  {},
                  [=](std::int64_t n) {
                    return std::vector<Buffer>{dense(n), words(n)};
                  },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(n) + sign_bytes(n); },
                  linear(1),
                  [](const Call& c) { pack_signs(c.at<float>(0), c.n, c.at<std::uint32_t>(1)); }});
  add_decoders(
      list, "signsgd", {}, [=](std::int64_t n) { return std::vector<Buffer>{coded(n)}; }, sign_bytes, 2,
      [](const Call& c, std::int64_t i) { return bit(c, i) ? 1.0F : -1.0F; });
  // Majority of p messages, bit by bit; a tie is 1.
  list.push_back({"majority-vote",
                  "signsgd",
                  {kMessages},
                  [=](std::int64_t n) {
                    return std::vector<Buffer>{{"messages", Element::u32, kMessages * ceil_div(n, 32), Fill::code},
                                               {"majority", Element::u32, ceil_div(n, 32), Fill::zero, true}};
                  },
                  [](std::int64_t n) { return (kMessages + 1) * sign_bytes(n); },
                  linear(kMessages),
                  [](const Call& c) {
                    const std::int64_t count = ceil_div(c.n, 32);
                    for (std::int64_t w = 0; w < count; ++w)
                      c.at<std::uint32_t>(1)[w] =
                          majority_word(c.at<std::uint32_t>(0) + w, count, static_cast<int>(c.parameters[0]));
                  }});

  // Signs, and the means of the elements below zero and of the others; 0 where there are none.
  list.push_back(
      {"sign-means",
       "1-bit",
       {},
       [=](std::int64_t n) {
         return std::vector<Buffer>{dense(n), words(n), {"means", Element::f32, 2, Fill::zero, true, kSumTolerance}};
       },
       [](std::int64_t n) { return 4.0 * static_cast<double>(n) + sign_bytes(n) + 8; },
       linear(3),
       [](const Call& c) {
         const float* x = c.at<float>(0);
         pack_signs(x, c.n, c.at<std::uint32_t>(1));
         double sums[2] = {0, 0}, counts[2] = {0, 0};
         for (std::int64_t i = 0; i < c.n; ++i) {
           sums[sign_bit(x[i])] += static_cast<double>(x[i]);
           counts[sign_bit(x[i])] += 1;
         }
         for (int s : {0, 1}) c.at<float>(2)[s] = counts[s] > 0 ? static_cast<float>(sums[s] / counts[s]) : 0.0F;
       }});
  add_decoders(
      list, "1-bit", {},
      [=](std::int64_t n) {
        return std::vector<Buffer>{coded(n), {"means", Element::f32, 2, Fill::scale}};
      },
      [](std::int64_t n) { return sign_bytes(n) + 8; }, 1,
      [](const Call& c, std::int64_t i) { return c.at<float>(1)[bit(c, i)]; });

  // Signs and mean |x|.
  list.push_back(
      {"sign-mean",
       "ef-signsgd",
       {},
       [=](std::int64_t n) {
         return std::vector<Buffer>{dense(n), words(n), {"mean", Element::f32, 1, Fill::zero, true, kSumTolerance}};
       },
       [](std::int64_t n) { return 4.0 * static_cast<double>(n) + sign_bytes(n) + 4; },
       linear(3),
       [](const Call& c) {
         const float* x = c.at<float>(0);
         pack_signs(x, c.n, c.at<std::uint32_t>(1));
         double sum = 0;
         for (std::int64_t i = 0; i < c.n; ++i) sum += static_cast<double>(magnitude(x[i]));
         c.at<float>(2)[0] = static_cast<float>(sum / static_cast<double>(c.n));
       }});
  add_decoders(
      list, "ef-signsgd", {},
      [=](std::int64_t n) {
        return std::vector<Buffer>{coded(n), {"mean", Element::f32, 1, Fill::scale}};
      },
      [](std::int64_t n) { return sign_bytes(n) + 4; }, 1,
      [](const Call& c, std::int64_t i) { return bit(c, i) ? c.at<float>(1)[0] : -c.at<float>(1)[0]; });
}

}  // namespace stepcast::kernels
