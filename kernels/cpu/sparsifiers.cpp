// Random-k, threshold-v, top-k: which elements, then their values and indices in index order.
#include <algorithm>
#include <functional>

#include "kernels/code/permutation.hpp"
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

double k_of(std::int64_t n) { return static_cast<double>(kept_of(n)); }

void count_tiles(const Call& c) {
  for (std::int64_t tile = 0; tile * kTile < c.n; ++tile) {
    const float* x = c.at<float>(0);
    c.at<std::uint64_t>(1)[tile] = static_cast<std::uint64_t>(std::count_if(x + tile * kTile, x + std::min(c.n, (tile + 1) * kTile), [](float value) { return magnitude(value) > kThreshold; }));
  }
}

/// state = {key of the k-th largest magnitude, how many elements of that key belong to the k}.
void select(const Call& c) {
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(c.n));
  std::transform(c.at<float>(0), c.at<float>(0) + c.n, keys.begin(), magnitude_bits);
  const std::int64_t k = kept_of(c.n);
  std::nth_element(keys.begin(), keys.begin() + (k - 1), keys.end(), std::greater<>());
  const std::uint32_t key = keys[static_cast<std::size_t>(k - 1)];
  const auto above = std::count_if(keys.begin(), keys.end(), [=](std::uint32_t x) { return x > key; });
  c.at<std::uint32_t>(1)[0] = key;
  c.at<std::uint32_t>(1)[1] = static_cast<std::uint32_t>(k - above);
}

}  // namespace

void add_sparsifiers(std::vector<Kernel>& list) {
  const auto dense = [](std::int64_t n) { return Buffer{"dense", Element::f32, n, Fill::values}; };
  const auto indices = [](std::int64_t n) { return Buffer{"indices", Element::u32, kept_of(n), Fill::index}; };

  // The first k entries of the seed's permutation of 0 ... n-1.
  list.push_back({"random-indices", "random-k", {}, [](std::int64_t n) { return std::vector<Buffer>{{"indices", Element::u32, kept_of(n), Fill::zero, true}}; },
                  [](std::int64_t n) { return 4 * k_of(n); }, [](std::int64_t n) { return 10 * k_of(n); }, [](const Call& c) {
                    for (std::int64_t j = 0; j < kept_of(c.n); ++j) c.at<std::uint32_t>(0)[j] = permuted(static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(c.n), c.seed);
                  }});
  list.push_back({"gather", "random-k", {}, [=](std::int64_t n) { return std::vector<Buffer>{dense(n), indices(n), {"values", Element::f32, kept_of(n), Fill::zero, true}}; },
                  [](std::int64_t n) { return 12 * k_of(n); }, linear(0), [](const Call& c) {
                    for (std::int64_t j = 0; j < kept_of(c.n); ++j) c.at<float>(2)[j] = c.at<float>(0)[c.at<std::uint32_t>(1)[j]];
                  }});
  // dense[index] = value, or += value. Indices are distinct, so the order does not matter.
  for (const bool add : {false, true})
    list.push_back({add ? "scatter-add" : "scatter", add ? "top-k" : "random-k", {},
                    [=](std::int64_t n) { return std::vector<Buffer>{indices(n), {"values", Element::f32, kept_of(n), Fill::values}, {"dense", Element::f32, n, Fill::values, true}}; },
                    [=](std::int64_t n) { return (add ? 16 : 12) * k_of(n); }, [=](std::int64_t n) { return add ? k_of(n) : 0.0; }, [=](const Call& c) {
                      for (std::int64_t j = 0; j < kept_of(c.n); ++j) {
                        float& target = c.at<float>(2)[c.at<std::uint32_t>(0)[j]];
                        target = add ? target + c.at<float>(1)[j] : c.at<float>(1)[j];
                      }
                    }});

  // |x| > τ: how many in each tile of 4096. NaN is not above a threshold and is not sent.
  list.push_back({"count", "threshold", {}, [=](std::int64_t n) { return std::vector<Buffer>{dense(n), {"counts", Element::u64, ceil_div(n, kTile), Fill::zero, true}}; },
                  linear(4), linear(2), count_tiles});
  // Values and indices of those elements, and their number; the bytes are those of standard normal input.
  list.push_back({"compact", "threshold", {},
                  [=](std::int64_t n) { return std::vector<Buffer>{dense(n), {"counts", Element::u64, ceil_div(n, kTile), Fill::prepared}, {"values", Element::f32, n, Fill::zero, true}, {"indices", Element::u32, n, Fill::zero, true}, {"total", Element::u32, 1, Fill::zero, true}}; },
                  linear(4 + 8 * 0.0424), linear(2), [](const Call& c) {
                    std::uint32_t total = 0;
                    for (std::int64_t i = 0; i < c.n; ++i) {
                      if (!(magnitude(c.at<float>(0)[i]) > kThreshold)) continue;
                      c.at<float>(2)[total] = c.at<float>(0)[i];
                      c.at<std::uint32_t>(3)[total++] = static_cast<std::uint32_t>(i);
                    }
                    c.at<std::uint32_t>(4)[0] = total;
                  }, count_tiles});

  // Four sweeps, one per digit of 8 bits of the magnitude's bits; no sort. NaN counts as the largest magnitude, so that
  // it is sent and seen. Equal magnitudes: the first in index order belong to the k.
  list.push_back({"radix-select", "top-k", {}, [=](std::int64_t n) { return std::vector<Buffer>{dense(n), {"state", Element::u32, 2, Fill::zero, true}}; },
                  linear(4), linear(2), select, {}, 4});
  list.push_back({"compact", "top-k", {},
                  [=](std::int64_t n) { return std::vector<Buffer>{dense(n), {"state", Element::u32, 2, Fill::prepared}, {"values", Element::f32, kept_of(n), Fill::zero, true}, {"indices", Element::u32, kept_of(n), Fill::zero, true}}; },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(n) + 8 * k_of(n); }, linear(2), [](const Call& c) {
                    const std::uint32_t key = c.at<std::uint32_t>(1)[0];
                    std::uint32_t ties = c.at<std::uint32_t>(1)[1];
                    std::int64_t j = 0;
                    for (std::int64_t i = 0; i < c.n; ++i) {
                      const std::uint32_t m = magnitude_bits(c.at<float>(0)[i]);
                      if (m < key || (m == key && ties == 0)) continue;
                      if (m == key) --ties;
                      c.at<float>(2)[j] = c.at<float>(0)[i];
                      c.at<std::uint32_t>(3)[j++] = static_cast<std::uint32_t>(i);
                    }
                  }, select});
}

}  // namespace stepcast::kernels
