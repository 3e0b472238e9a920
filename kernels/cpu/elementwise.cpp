// Casts, sums and updates: one element in, one out.
#include "kernels/code/half.hpp"
#include "kernels/code/quantizers.hpp"
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

template <class F>
auto each(F f) {
  return [f](const Call& call) {
    for (std::int64_t i = 0; i < call.n; ++i) f(call, i);
  };
}

}  // namespace

void add_elementwise(std::vector<Kernel>& list) {
  // y = half(x) and back.
  list.push_back(
      {"cast",
       "fp16-encode",
       {},
       [](std::int64_t n) {
         return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values},
                                    {"halves", Element::f16, n, Fill::zero, true}};
       },
       linear(6),
       linear(1),
       each([](const Call& c, std::int64_t i) { c.at<std::uint16_t>(1)[i] = half_bits(c.at<float>(0)[i]); })});
  list.push_back(
      {"cast",
       "fp16-decode",
       {},
       [](std::int64_t n) {
         return std::vector<Buffer>{{"halves", Element::f16, n, Fill::code},
                                    {"dense", Element::f32, n, Fill::zero, true}};
       },
       linear(6),
       linear(1),
       each([](const Call& c, std::int64_t i) { c.at<float>(1)[i] = float_of_half(c.at<std::uint16_t>(0)[i]); })});
  // s ← s + x: the γ of the collectives' equations.
  list.push_back(
      {"add",
       "sum",
       {},
       [](std::int64_t n) {
         return std::vector<Buffer>{{"x", Element::f32, n, Fill::values}, {"sum", Element::f32, n, Fill::values, true}};
       },
       linear(12),
       linear(1),
       each([](const Call& c, std::int64_t i) { c.at<float>(1)[i] += c.at<float>(0)[i]; })});
  // r = a - b: the residual of error feedback.
  list.push_back(
      {"subtract",
       "residual",
       {},
       [](std::int64_t n) {
         return std::vector<Buffer>{{"a", Element::f32, n, Fill::values},
                                    {"b", Element::f32, n, Fill::values},
                                    {"difference", Element::f32, n, Fill::zero, true}};
       },
       linear(12),
       linear(1),
       each([](const Call& c, std::int64_t i) { c.at<float>(2)[i] = c.at<float>(0)[i] - c.at<float>(1)[i]; })});
  // v ← μv + (1-μ)g.
  list.push_back({"momentum",
                  "signum",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"gradient", Element::f32, n, Fill::values},
                                               {"momentum", Element::f32, n, Fill::values, true}};
                  },
                  linear(12),
                  linear(3),
                  each([](const Call& c, std::int64_t i) {
                    float& v = c.at<float>(1)[i];
                    v = kMomentum * v + (1 - kMomentum) * c.at<float>(0)[i];
                  })});
  // y = sign(x), 1 where x is not below zero: SignSGD's majority of a sum of signs.
  list.push_back(
      {"sign",
       "signsgd",
       {},
       [](std::int64_t n) {
         return std::vector<Buffer>{{"sum", Element::f32, n, Fill::values},
                                    {"signs", Element::f32, n, Fill::zero, true}};
       },
       linear(8),
       linear(1),
       each([](const Call& c, std::int64_t i) { c.at<float>(1)[i] = sign_bit(c.at<float>(0)[i]) ? 1.0F : -1.0F; })});
  list.push_back({"fill",
                  "zero",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"dense", Element::f32, n, Fill::values, true}};
                  },
                  linear(4),
                  linear(0),
                  each([](const Call& c, std::int64_t i) { c.at<float>(0)[i] = 0; })});
}

}  // namespace stepcast::kernels
