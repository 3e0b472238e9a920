// DGC and adaptive quantization: thresholds from a sample, then the elements that reach them. DGC has one threshold for
// |x|, adaptive quantization one for each sign. The sign, 1 or -1, is a parameter of its kernels. For both,
// "radix-select/dgc" finds the threshold in the sample.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/code/samples.hpp"
#include "kernels/cpu/lists.hpp"
#include "kernels/cpu/select.hpp"
#include "kernels/cpu/tiles.hpp"

namespace stepcast::kernels {
namespace {

double size_of_sample(std::int64_t n) { return static_cast<double>(sample_of(n)); }
/// Elements that adaptive quantization sends, of both signs together.
double adaptive_count(std::int64_t n) { return static_cast<double>(std::llround(0.01 * static_cast<double>(n))); }

Buffer dense(std::int64_t n) { return {"dense", Element::f32, n, Fill::values}; }
Buffer threshold() { return {"threshold", Element::f32, 1, Fill::prepared}; }
Buffer counts(std::int64_t n, Fill fill) {
  return {"counts", Element::u64, ceil_div(n, kTile), fill, fill == Fill::zero};
}

/// Buffer 1: the threshold that k of the dense vector's elements reach.
void exact_threshold(const Call& c) {
  c.at<float>(1)[0] = float_of(select_largest(c.at<float>(0), c.n, kept_of(c.n)).key);
}
auto reaching(const Call& c) {
  return [threshold = c.at<float>(1)[0]](float x) { return reaches(x, threshold); };
}
void count_reaching(const Call& c) { count_tiles(c.at<float>(0), c.n, c.at<std::uint64_t>(2), reaching(c)); }

/// The same of one sign's elements; 0 where there are none.
void exact_sign_threshold(const Call& c) {
  std::vector<float> mine;
  std::copy_if(c.at<float>(0), c.at<float>(0) + c.n, std::back_inserter(mine),
               [&](float x) { return of_sign(x, static_cast<int>(c.parameters[0])); });
  const auto size = static_cast<std::int64_t>(mine.size());
  c.at<float>(1)[0] = mine.empty() ? 0.0F : float_of(select_largest(mine.data(), size, kept_of(size)).key);
}
auto reaching_of_sign(const Call& c) {
  return [threshold = c.at<float>(1)[0], sign = static_cast<int>(c.parameters[0])](float x) {
    return of_sign(x, sign) && reaches(x, threshold);
  };
}
void count_of_sign(const Call& c) { count_tiles(c.at<float>(0), c.n, c.at<std::uint64_t>(2), reaching_of_sign(c)); }

void add_dgc(std::vector<Kernel>& list) {
  // u ← μu + g, v ← v + u.
  list.push_back({"momentum-correction",
                  "dgc",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"gradient", Element::f32, n, Fill::values},
                                               {"u", Element::f32, n, Fill::values, true},
                                               {"v", Element::f32, n, Fill::values, true}};
                  },
                  linear(20),
                  linear(3),
                  [](const Call& c) {
                    for (std::int64_t i = 0; i < c.n; ++i) {
                      c.at<float>(1)[i] = kMomentum * c.at<float>(1)[i] + c.at<float>(0)[i];
                      c.at<float>(2)[i] += c.at<float>(1)[i];
                    }
                  }});
  // Magnitudes of elements drawn at random. Bytes as the models count them: an index and an element read, one written.
  list.push_back({"sample",
                  "dgc",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{dense(n), {"sample", Element::f32, sample_of(n), Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 12 * size_of_sample(n); },
                  [](std::int64_t n) { return kRandomFlops * size_of_sample(n); },
                  [](const Call& c) {
                    for (std::int64_t j = 0; j < sample_of(c.n); ++j)
                      c.at<float>(1)[j] = magnitude(c.at<float>(
                          0)[sample_index(c.seed, static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(c.n))]);
                  }});
  // The threshold's bits and how many of the sample tie with it: the k-th largest of s sampled, k = max(1,
  // floor(s/100)).
  list.push_back({"radix-select",
                  "dgc",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"sample", Element::f32, sample_of(n), Fill::values},
                                               {"state", Element::u32, 2, Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 4 * size_of_sample(n); },
                  [](std::int64_t n) { return 2 * size_of_sample(n); },
                  [](const Call& c) {
                    const std::int64_t sample = sample_of(c.n);
                    const Selected selected = select_largest(c.at<float>(0), sample, kept_of(sample));
                    c.at<std::uint32_t>(1)[0] = selected.key;
                    c.at<std::uint32_t>(1)[1] = selected.ties;
                  },
                  {},
                  4});
  list.push_back({"count",
                  "dgc",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{dense(n), threshold(), counts(n, Fill::zero)};
                  },
                  linear(4),
                  linear(2),
                  count_reaching,
                  exact_threshold});
  list.push_back({"compact",
                  "dgc",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{dense(n),
                                               threshold(),
                                               counts(n, Fill::prepared),
                                               {"values", Element::f32, n, Fill::zero, true},
                                               {"indices", Element::u32, n, Fill::zero, true},
                                               {"total", Element::u32, 1, Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(n) + 8.0 * static_cast<double>(kept_of(n)); },
                  linear(2),
                  [](const Call& c) {
                    c.at<std::uint32_t>(5)[0] =
                        compact(c.at<float>(0), c.n, reaching(c), [&](std::uint32_t place, std::uint32_t i) {
                          c.at<float>(3)[place] = c.at<float>(0)[i];
                          c.at<std::uint32_t>(4)[place] = i;
                        });
                  },
                  [](const Call& c) {
                    exact_threshold(c);
                    count_reaching(c);
                  }});
  // u and v become 0 where v was sent.
  list.push_back({"clear-sent",
                  "dgc",
                  {},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{{"v", Element::f32, n, Fill::values, true},
                                               threshold(),
                                               {"u", Element::f32, n, Fill::values, true}};
                  },
                  linear(16),
                  linear(2),
                  [](const Call& c) {
                    for (std::int64_t i = 0; i < c.n; ++i)
                      if (reaches(c.at<float>(0)[i], c.at<float>(1)[0])) c.at<float>(0)[i] = c.at<float>(2)[i] = 0;
                  },
                  exact_threshold});
}

void add_adaptive(std::vector<Kernel>& list) {
  const auto sample_bytes = [](double per_element) {
    return [=](std::int64_t n) { return per_element * static_cast<double>(sign_sample_of(n)); };
  };
  // Magnitudes of elements of one sign drawn at random, two draws for each on average.
  list.push_back({"sample",
                  "adaptive",
                  {1},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{dense(n), {"sample", Element::f32, sign_sample_of(n), Fill::zero, true}};
                  },
                  sample_bytes(12),
                  sample_bytes(kRandomFlops),
                  [](const Call& c) {
                    for (std::int64_t j = 0; j < sign_sample_of(c.n); ++j)
                      c.at<float>(1)[j] =
                          sign_sample(c.at<float>(0), static_cast<std::uint64_t>(c.n),
                                      static_cast<int>(c.parameters[0]), c.seed, static_cast<std::uint64_t>(j));
                  }});
  list.push_back({"count",
                  "adaptive",
                  {1},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{dense(n), threshold(), counts(n, Fill::zero)};
                  },
                  linear(4),
                  linear(3),
                  count_of_sign,
                  exact_sign_threshold});
  // Indices of one sign's elements that reach the threshold, their number and their mean; 0 where there are none.
  list.push_back({"compact-mean",
                  "adaptive",
                  {1},
                  [](std::int64_t n) {
                    return std::vector<Buffer>{dense(n),
                                               threshold(),
                                               counts(n, Fill::prepared),
                                               {"indices", Element::u32, n, Fill::zero, true},
                                               {"mean", Element::f32, 1, Fill::zero, true, kSumTolerance},
                                               {"total", Element::u32, 1, Fill::zero, true}};
                  },
                  [](std::int64_t n) { return 4.0 * static_cast<double>(n) + 2 * (3 + adaptive_count(n)); },
                  linear(4),
                  [](const Call& c) {
                    double sum = 0;
                    const std::uint32_t total =
                        compact(c.at<float>(0), c.n, reaching_of_sign(c), [&](std::uint32_t place, std::uint32_t i) {
                          sum += static_cast<double>(c.at<float>(0)[i]);
                          c.at<std::uint32_t>(3)[place] = i;
                        });
                    c.at<float>(4)[0] = total > 0 ? static_cast<float>(sum / total) : 0.0F;
                    c.at<std::uint32_t>(5)[0] = total;
                  },
                  [](const Call& c) {
                    exact_sign_threshold(c);
                    count_of_sign(c);
                  }});
  // dense[index] = mean, or += mean, of the sign: the first `positives` indices are those of positive elements.
  for (const bool add : {false, true})
    list.push_back({add ? "scatter-add" : "scatter",
                    "adaptive",
                    {},
                    [](std::int64_t n) {
                      return std::vector<Buffer>{{"indices", Element::u32, kept_of(n), Fill::index},
                                                 {"means", Element::f32, 2, Fill::scale},
                                                 {"positives", Element::u32, 1, Fill::prepared},
                                                 {"dense", Element::f32, n, Fill::values, true}};
                    },
                    [=](std::int64_t n) { return 12 + (add ? 12 : 8) * adaptive_count(n); },
                    [=](std::int64_t n) { return add ? adaptive_count(n) : 0.0; },
                    [=](const Call& c) {
                      for (std::int64_t j = 0; j < kept_of(c.n); ++j) {
                        float& target = c.at<float>(3)[c.at<std::uint32_t>(0)[j]];
                        const float mean = c.at<float>(1)[j < c.at<std::uint32_t>(2)[0] ? 0 : 1];
                        target = add ? target + mean : mean;
                      }
                    },
                    [](const Call& c) { c.at<std::uint32_t>(2)[0] = static_cast<std::uint32_t>(kept_of(c.n) / 2); }});
}

}  // namespace

void add_sampled_thresholds(std::vector<Kernel>& list) {
  add_dgc(list);
  add_adaptive(list);
}

}  // namespace stepcast::kernels
