#include "kernels/code/permutation.hpp"
#include "kernels/cuda/top_k.cuh"

namespace stepcast::kernels {
namespace {

struct DrawIndices {
  std::uint32_t* indices;
  std::uint64_t n, seed;
  __device__ void operator()(std::int64_t j) const { indices[j] = permuted(static_cast<std::uint64_t>(j), n, seed); }
};

struct Gather {
  const float* dense;
  const std::uint32_t* indices;
  float* values;
  __device__ void operator()(std::int64_t j) const { values[j] = dense[indices[j]]; }
};

struct Scatter {
  const std::uint32_t* indices;
  const float* values;
  float* dense;
  bool add;
  __device__ void operator()(std::int64_t j) const {
    float& target = dense[indices[j]];
    target = add ? target + values[j] : values[j];
  }
};

struct AboveThreshold {
  __device__ bool operator()(float x) const { return magnitude(x) > kThreshold; }
};

template <class Op>
void over_kept(const DeviceCall& c, const Op& op) {
  const std::int64_t k = kept_of(c.n);
  sweep<<<blocks_for(k), kThreads, 0, c.stream>>>(k, op);
}

void random_indices(const DeviceCall& c) {
  over_kept(c, DrawIndices{c.at<std::uint32_t>(0), static_cast<std::uint64_t>(c.n), c.seed});
}
void gather(const DeviceCall& c) { over_kept(c, Gather{c.at<float>(0), c.at<std::uint32_t>(1), c.at<float>(2)}); }
template <bool kAdd>
void scatter(const DeviceCall& c) {
  over_kept(c, Scatter{c.at<std::uint32_t>(0), c.at<float>(1), c.at<float>(2), kAdd});
}

void count_threshold(const DeviceCall& c) {
  count_tiles<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, AboveThreshold{}, c.at<Count>(1));
}

void compact_threshold(const DeviceCall& c) {
  Count* offsets = c.scratch_at<Count>();
  scan(c, c.at<Count>(1), tiles_of(c.n), offsets);
  write_kept<<<tiles_of(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, AboveThreshold{}, offsets,
                                                       PutValueAndIndex{c.at<float>(2), c.at<std::uint32_t>(3)},
                                                       c.at<std::uint32_t>(4));
}

void select_compact(const DeviceCall& c) {
  select_and_compact(c, Elements{c.at<float>(0)}, c.at<float>(0), kept_of(c.n),
                     PutValueAndIndex{c.at<float>(1), c.at<std::uint32_t>(2)});
}

/// Message by message: an index may be in several, and sums keep their order.
void scatter_sum(const DeviceCall& c) {
  const std::int64_t k = kept_of(c.n);
  cudaMemsetAsync(c.at<float>(2), 0, sizeof(float) * c.n, c.stream);
  for (std::int64_t m = 0; m < c.parameters[0]; ++m)
    over_kept(c, Scatter{c.at<std::uint32_t>(0) + m * k, c.at<float>(1) + m * k, c.at<float>(2), true});
}

}  // namespace

void add_sparsifier_launches(std::vector<Launch>& list) {
  list.push_back({"random-indices/random-k", random_indices, no_scratch});
  list.push_back({"gather/random-k", gather, no_scratch});
  list.push_back({"scatter/random-k", scatter<false>, no_scratch});
  list.push_back({"scatter-add/top-k", scatter<true>, no_scratch});
  list.push_back({"count/threshold", count_threshold, no_scratch});
  list.push_back({"compact/threshold", compact_threshold, offset_scratch});
  list.push_back({"select-compact/top-k", select_compact, top_k_scratch});
  list.push_back({"scatter-sum/top-k", scatter_sum, no_scratch});
}

}  // namespace stepcast::kernels
