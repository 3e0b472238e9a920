// SketchML: quantile edges from a sort, the quantile of each element, the mean of each quantile.
#include <algorithm>

#include "kernels/code/samples.hpp"
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

bool before(float a, float b) { return ordered_bits(a) < ordered_bits(b); }

/// Edge j - 1 of q quantiles, j = 1 ... q-1, is element floor(j·n/q) in ascending order.
void find_edges(const float* sorted, std::int64_t n, std::int64_t quantiles, float* edges) {
  for (std::int64_t j = 1; j < quantiles; ++j) edges[j - 1] = sorted[j * n / quantiles];
}

}  // namespace

void add_sketch(std::vector<Kernel>& list) {
  const auto dense = [](std::int64_t n) { return Buffer{"dense", Element::f32, n, Fill::values}; };
  const auto with_table = linear(5, 4.0 * kQuantiles);  // elements of 4 bytes, codes of 1, and a table

  // Ascending; -0 counts as 0, and equal elements stay in order. Four sweeps, one per digit of 8 bits.
  list.push_back({"radix-sort",
                  "sketchml",
                  {},
                  [=](std::int64_t n) {
                    return std::vector<Buffer>{dense(n), {"sorted", Element::f32, n, Fill::zero, true}};
                  },
                  linear(8),
                  linear(2),
                  [](const Call& c) {
                    std::copy_n(c.at<float>(0), c.n, c.at<float>(1));
                    std::stable_sort(c.at<float>(1), c.at<float>(1) + c.n, before);
                  },
                  {},
                  4});
  // No CodecKernel of the models: it touches q elements.
  list.push_back({"quantile-edges",
                  "sketchml",
                  {kQuantiles},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"sorted", Element::f32, n, Fill::values},
                                               {"edges", Element::f32, kQuantiles - 1, Fill::zero, true}};
                  },
                  linear(0, 8.0 * (kQuantiles - 1)),
                  linear(0),
                  [](const Call& c) { find_edges(c.at<float>(0), c.n, c.parameters[0], c.at<float>(1)); }});
  // The number of edges that an element is not below. The edges are those of the first elements.
  list.push_back({"find-bins",
                  "sketchml",
                  {kQuantiles},
                  [=](std::int64_t n) {
                    return std::vector<Buffer>{dense(n),
                                               {"edges", Element::f32, kQuantiles - 1, Fill::prepared},
                                               {"codes", Element::u8, n, Fill::zero, true}};
                  },
                  with_table,
                  linear(8),
                  [](const Call& c) {
                    std::uint32_t tree[kQuantiles] = {};
                    for (int node = 1; node < kQuantiles; ++node)
                      tree[node] = ordered_bits(c.at<float>(1)[edge_of_node(node, kQuantileLevels)]);
                    for (std::int64_t i = 0; i < c.n; ++i)
                      c.at<std::uint8_t>(2)[i] = quantile_of(c.at<float>(0)[i], tree);
                  },
                  [](const Call& c) {
                    std::vector<float> sorted(c.at<float>(0), c.at<float>(0) + std::min<std::int64_t>(c.n, 1 << 16));
                    std::sort(sorted.begin(), sorted.end(), before);
                    find_edges(sorted.data(), static_cast<std::int64_t>(sorted.size()), c.parameters[0],
                               c.at<float>(1));
                  }});
  // The mean of each code's elements; 0 where there are none.
  list.push_back({"segment-means",
                  "sketchml",
                  {kQuantiles},
                  [=](std::int64_t n) {
                    return std::vector<Buffer>{dense(n),
                                               {"codes", Element::u8, n, Fill::code},
                                               {"means", Element::f32, kQuantiles, Fill::zero, true, kSumTolerance}};
                  },
                  with_table,
                  linear(2),
                  [](const Call& c) {
                    std::vector<double> sums(c.parameters[0]), numbers(sums);
                    for (std::int64_t i = 0; i < c.n; ++i) {
                      sums[c.at<std::uint8_t>(1)[i]] += static_cast<double>(c.at<float>(0)[i]);
                      numbers[c.at<std::uint8_t>(1)[i]] += 1;
                    }
                    for (std::size_t j = 0; j < sums.size(); ++j)
                      c.at<float>(2)[j] = numbers[j] > 0 ? static_cast<float>(sums[j] / numbers[j]) : 0.0F;
                  }});
  add_decoders(
      list, "sketchml", {kQuantiles},
      [](std::int64_t n) {
        return std::vector<Buffer>{{"codes", Element::u8, n, Fill::code},
                                   {"means", Element::f32, kQuantiles, Fill::scale}};
      },
      linear(1, 4.0 * kQuantiles), 1,
      [](const Call& c, std::int64_t i) { return c.at<float>(1)[c.at<std::uint8_t>(0)[i]]; });
}

}  // namespace stepcast::kernels
