// Random-k, threshold-v, top-k: which elements, then their values and indices in index order.
#include "kernels/code/permutation.hpp"
#include "kernels/cpu/lists.hpp"
#include "kernels/cpu/select.hpp"
#include "kernels/cpu/tiles.hpp"

namespace stepcast::kernels {
namespace {

double k_of(std::int64_t n) { return static_cast<double>(kept_of(n)); }

bool above_threshold(float x) { return magnitude(x) > kThreshold; }
void count_above(const Call& c) { count_tiles(c.at<float>(0), c.n, c.at<std::uint64_t>(1), above_threshold); }

}  // namespace

void add_sparsifiers(std::vector<Kernel>& list) {
  const auto dense = [](std::int64_t n) { return Buffer{"dense", Element::f32, n, Fill::values}; };
  const auto indices = [](std::int64_t n) { return Buffer{"indices", Element::u32, kept_of(n), Fill::index}; };

  // The first k entries of the seed's permutation of 0 ... n-1.
  list.push_back({"random-indices",
                  "random-k",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"indices", Element::u32, kept_of(n), Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 4 * k_of(n); },
                  [](std::int64_t n) { return 10 * k_of(n); },
                  [](const Call& c) {
                    for (std::int64_t j = 0; j < kept_of(c.n); ++j)
                      c.at<std::uint32_t>(0)[j] =
                          permuted(static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(c.n), c.seed);
                  }});
  list.push_back(
      {"gather",
       "random-k",
       {},
       [=](std::int64_t n) {
         return std::vector<Buffer>{dense(n), indices(n), {"values", Element::f32, kept_of(n), Fill::zero, true}};
       },
       [](std::int64_t n) { return 12 * k_of(n); },
       linear(0),
       [](const Call& c) {
         for (std::int64_t j = 0; j < kept_of(c.n); ++j) c.at<float>(2)[j] = c.at<float>(0)[c.at<std::uint32_t>(1)[j]];
       }});
  // dense[index] = value, or += value. Indices are distinct, so the order does not matter.
  for (const bool add : {false, true})
    list.push_back({add ? "scatter-add" : "scatter",
                    add ? "top-k" : "random-k",
                    {},
                    [=](std::int64_t n) {
                      return std::vector<Buffer>{indices(n),
                                                 {"values", Element::f32, kept_of(n), Fill::values},
                                                 {"dense", Element::f32, n, Fill::values, true}};
                    },
                    [=](std::int64_t n) { return (add ? 16 : 12) * k_of(n); },
                    [=](std::int64_t n) { return add ? k_of(n) : 0.0; },
                    [=](const Call& c) {
                      for (std::int64_t j = 0; j < kept_of(c.n); ++j) {
                        float& target = c.at<float>(2)[c.at<std::uint32_t>(0)[j]];
                        target = add ? target + c.at<float>(1)[j] : c.at<float>(1)[j];
                      }
                    }});

  // |x| > τ: how many in each tile of 4096. NaN is not above a threshold and is not sent.
  list.push_back(
      {"count",
       "threshold",
       {},
       [=](std::int64_t n) {
         return std::vector<Buffer>{dense(n), {"counts", Element::u64, ceil_div(n, kTile), Fill::zero, true}};
       },
       linear(4),
       linear(2),
       count_above});
  // Values and indices of those elements, and their number; the bytes are those of standard normal input.
  list.push_back({"compact",
                  "threshold",
                  {},
                  [=](std::int64_t n) {
                    return std::vector<Buffer>{dense(n),
                                               {"counts", Element::u64, ceil_div(n, kTile), Fill::prepared},
                                               {"values", Element::f32, n, Fill::zero, true},
                                               {"indices", Element::u32, n, Fill::zero, true},
                                               {"total", Element::u32, 1, Fill::zero, true}};
                  },
                  linear(4 + 8 * 0.0424),
                  linear(2),
                  [](const Call& c) {
                    c.at<std::uint32_t>(4)[0] =
                        compact(c.at<float>(0), c.n, above_threshold, [&](std::uint32_t place, std::uint32_t i) {
                          c.at<float>(2)[place] = c.at<float>(0)[i];
                          c.at<std::uint32_t>(3)[place] = i;
                        });
                  },
                  count_above});

  // Two sweeps over the elements: the first counts leading bits, the second keeps the few elements at or
  // above the bits of the k-th largest. Only those are processed further, in scratch that is not counted: for normal
  // elements they are 1.2 %, written once and read four times. Bytes and operations are those of one of the two sweeps,
  // half of the message in each. No sort. NaN counts as the largest magnitude, so that it is sent and seen. Equal
  // magnitudes: the first in index order belong to the k.
  list.push_back({"select-compact",
                  "top-k",
                  {},
                  [=](std::int64_t n) {
                    return std::vector<Buffer>{dense(n),
                                               {"values", Element::f32, kept_of(n), Fill::zero, true},
                                               {"indices", Element::u32, kept_of(n), Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(n) + 4 * k_of(n); },
                  linear(2),
                  [](const Call& c) {
                    compact_selected(c.at<float>(0), c.n, select_largest(c.at<float>(0), c.n, kept_of(c.n)),
                                     c.at<float>(1), c.at<std::uint32_t>(2));
                  },
                  {},
                  2});
  // The sum of p messages of k elements each, added in order of the messages; an index may be in several. No CodecKernel of
  // the models: they scatter message by message.
  list.push_back({"scatter-sum",
                  "top-k",
                  {kMessages},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"indices", Element::u32, kMessages * kept_of(n), Fill::prepared},
                                               {"values", Element::f32, kMessages * kept_of(n), Fill::values},
                                               {"dense", Element::f32, n, Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(n) + 16.0 * kMessages * k_of(n); },
                  [](std::int64_t n) { return kMessages * k_of(n); },
                  [](const Call& c) {
                    std::fill_n(c.at<float>(2), c.n, 0.0F);
                    for (std::int64_t j = 0; j < c.parameters[0] * kept_of(c.n); ++j)
                      c.at<float>(2)[c.at<std::uint32_t>(0)[j]] += c.at<float>(1)[j];
                  },
                  [](const Call& c) {
                    const std::int64_t k = kept_of(c.n);
                    for (std::int64_t j = 0; j < c.parameters[0] * k; ++j)
                      c.at<std::uint32_t>(0)[j] =
                          permuted(static_cast<std::uint64_t>(j % k), static_cast<std::uint64_t>(c.n),
                                   c.seed + static_cast<std::uint64_t>(j / k));
                  }});
}

}  // namespace stepcast::kernels
