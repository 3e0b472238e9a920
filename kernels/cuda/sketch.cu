#include <cub/device/device_radix_sort.cuh>

#include "kernels/code/samples.hpp"
#include "kernels/cuda/error.hpp"
#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {
namespace {

constexpr int kBins = static_cast<int>(kQuantiles);
constexpr int kWarps = kThreads / 32;
static_assert(kBins == kThreads, "one thread a quantile");

struct PickEdges {
  const float* sorted;
  float* edges;
  std::int64_t n, quantiles;
  __device__ void operator()(std::int64_t j) const { edges[j] = sorted[(j + 1) * n / quantiles]; }
};

__global__ void find_bins(const float* x, std::int64_t n, const float* edges, std::uint8_t* codes) {
  __shared__ std::uint32_t tree[kBins];
  const int node = static_cast<int>(threadIdx.x);
  tree[node] = node == 0 ? 0 : ordered_bits(edges[edge_of_node(node, kQuantileLevels)]);
  __syncthreads();
  const std::int64_t groups = (n + 3) / 4, stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride) {
    const Pack<float> a = load(x, g, n);
    Pack<std::uint8_t> b;
    for (int k = 0; k < 4; ++k) b.v[k] = quantile_of(a.v[k], tree);
    store(codes, g, n, b);
  }
}

struct Segments {
  double sums[kBins];
  unsigned long long numbers[kBins];
};

/// Sums in shared memory, each warp's apart.
__global__ void sum_segments(const float* x, const std::uint8_t* codes, std::int64_t n, Segments* all) {
  __shared__ double sums[kWarps][kBins];
  __shared__ std::uint32_t numbers[kWarps][kBins];
  for (int i = static_cast<int>(threadIdx.x); i < kWarps * kBins; i += kThreads) {
    (&sums[0][0])[i] = 0;
    (&numbers[0][0])[i] = 0;
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x / 32);
  const std::int64_t groups = (n + 3) / 4, stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride) {
    const Pack<float> a = load(x, g, n);
    const Pack<std::uint8_t> b = load(codes, g, n);
    for (int k = 0; k < 4; ++k) {
      if (4 * g + k >= n) continue;
      atomicAdd(&sums[warp][b.v[k]], static_cast<double>(a.v[k]));
      atomicAdd(&numbers[warp][b.v[k]], 1U);
    }
  }
  __syncthreads();
  const int bin = static_cast<int>(threadIdx.x);
  double sum = 0;
  std::uint32_t number = 0;
  for (int w = 0; w < kWarps; ++w) {
    sum += sums[w][bin];
    number += numbers[w][bin];
  }
  if (number == 0) return;
  atomicAdd(&all->sums[bin], sum);
  atomicAdd(&all->numbers[bin], static_cast<unsigned long long>(number));
}

__global__ void finish_segments(const Segments* all, float* means) {
  const int bin = static_cast<int>(threadIdx.x);
  means[bin] =
      all->numbers[bin] > 0 ? static_cast<float>(all->sums[bin] / static_cast<double>(all->numbers[bin])) : 0.0F;
}

struct TableValue {
  const std::uint8_t* codes;
  const float* means;
  __device__ Pack<float> operator()(std::int64_t g, std::int64_t n) const {
    const Pack<std::uint8_t> a = load(codes, g, n);
    Pack<float> b;
    for (int k = 0; k < 4; ++k) b.v[k] = means[a.v[k]];
    return b;
  }
};

std::size_t sort_scratch(const DeviceCall& c) {
  std::size_t bytes = 0;
  require_cuda(cub::DeviceRadixSort::SortKeys(nullptr, bytes, static_cast<const float*>(nullptr),
                                              static_cast<float*>(nullptr), static_cast<std::uint32_t>(c.n)),
               "asking for the scratch of a sort");
  return bytes;
}

void radix_sort(const DeviceCall& c) {
  std::size_t bytes = sort_scratch(c);
  require_cuda(cub::DeviceRadixSort::SortKeys(c.scratch, bytes, static_cast<const float*>(c.at<float>(0)),
                                              c.at<float>(1), static_cast<std::uint32_t>(c.n), 0, 32, c.stream),
               "sorting");
}

void quantile_edges(const DeviceCall& c) {
  sweep<<<1, kThreads, 0, c.stream>>>(c.parameters[0] - 1,
                                      PickEdges{c.at<float>(0), c.at<float>(1), c.n, c.parameters[0]});
}

unsigned table_blocks(std::int64_t n) { return blocks_for(ceil_div(n, 4), 2048); }
void bins(const DeviceCall& c) {
  find_bins<<<table_blocks(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.n, c.at<float>(1), c.at<std::uint8_t>(2));
}

std::size_t segment_scratch(const DeviceCall&) { return sizeof(Segments); }
void segment_means(const DeviceCall& c) {
  auto* all = c.scratch_at<Segments>();
  cudaMemsetAsync(all, 0, sizeof(Segments), c.stream);
  sum_segments<<<table_blocks(c.n), kThreads, 0, c.stream>>>(c.at<float>(0), c.at<std::uint8_t>(1), c.n, all);
  finish_segments<<<1, kBins, 0, c.stream>>>(all, c.at<float>(2));
}

template <bool kAdd>
void decode_table(const DeviceCall& c) {
  decode(c, TableValue{c.at<std::uint8_t>(0), c.at<float>(1)}, c.at<float>(2), kAdd);
}

}  // namespace

void add_sketch_launches(std::vector<Launch>& list) {
  list.push_back({"radix-sort/sketchml", radix_sort, sort_scratch});
  list.push_back({"quantile-edges/sketchml", quantile_edges, no_scratch});
  list.push_back({"find-bins/sketchml", bins, no_scratch});
  list.push_back({"segment-means/sketchml", segment_means, segment_scratch});
  list.push_back({"decode/sketchml", decode_table<false>, no_scratch});
  list.push_back({"decode-add/sketchml", decode_table<true>, no_scratch});
}

}  // namespace stepcast::kernels
