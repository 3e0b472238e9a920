// Rows are read from memory once, by a warp or a block: the later sweeps over a row find it in cache. The gradients of
// scale and bias are sums over columns, by two kernels. One leaves the sums of some rows in scratch, the other adds
// those up.
#include <algorithm>

#include "kernels/code/norms.hpp"
#include "kernels/cuda/rows.cuh"

namespace stepcast::kernels {
namespace {

template <class T, int kGroup, int V>
__global__ void normalize_rows(std::int64_t rows, std::int64_t width, const T* x, const T* scale, const T* bias, T* y,
                               float* means, float* inverse_stds) {
  const RowShare<kGroup> share;
  const auto count = static_cast<float>(width);
  for (std::int64_t r = share.first; r < rows; r += share.step) {
    const T* row = x + r * width;
    float sum = 0, squares = 0;
    for_row<kGroup, V>(row, width, share.place, [&](std::int64_t, const Values<V>& a) {
      for (const float value : a.v) sum += value;
    });
    float mean = reduce_group<kGroup>(sum, Plus{}) / count;
    for_row<kGroup, V>(row, width, share.place, [&](std::int64_t, const Values<V>& a) {
      for (const float value : a.v) squares += (value - mean) * (value - mean);
    });
    const float variance = reduce_group<kGroup>(squares, Plus{}) / count,
                inverse_std = 1.0F / sqrtf(variance + kNormEpsilon);
    if (variance != variance) mean = variance;  // NaN if the variance is
    if (share.place == 0) {
      means[r] = mean;
      inverse_stds[r] = inverse_std;
    }
    for_row<kGroup, V>(row, width, share.place, [&](std::int64_t first, Values<V> a) {
      const Values<V> factor = load_values<V>(scale, first), offset = load_values<V>(bias, first);
      for (int k = 0; k < V; ++k) a.v[k] = (a.v[k] - mean) * inverse_std * factor.v[k] + offset.v[k];
      store_values<V>(y + r * width, first, a);
    });
  }
}

template <class T, int kGroup, int V>
__global__ void row_gradients(std::int64_t rows, std::int64_t width, const T* dy, const T* x, const T* scale,
                              const float* means, const float* inverse_stds, T* dx) {
  const RowShare<kGroup> share;
  const auto count = static_cast<float>(width);
  for (std::int64_t r = share.first; r < rows; r += share.step) {
    const float mean = means[r], inverse_std = inverse_stds[r];
    float sum = 0, products = 0;
    for_row<kGroup, V>(dy + r * width, width, share.place, [&](std::int64_t first, const Values<V>& gradient) {
      const Values<V> a = load_values<V>(x + r * width, first), factor = load_values<V>(scale, first);
      for (int k = 0; k < V; ++k) {
        const float scaled = gradient.v[k] * factor.v[k];
        sum += scaled;
        products += scaled * ((a.v[k] - mean) * inverse_std);
      }
    });
    const float plain = reduce_group<kGroup>(sum, Plus{}) / count,
                slope = reduce_group<kGroup>(products, Plus{}) / count;
    for_row<kGroup, V>(dy + r * width, width, share.place, [&](std::int64_t first, Values<V> gradient) {
      const Values<V> a = load_values<V>(x + r * width, first), factor = load_values<V>(scale, first);
      for (int k = 0; k < V; ++k)
        gradient.v[k] = inverse_std * (gradient.v[k] * factor.v[k] - plain - (a.v[k] - mean) * inverse_std * slope);
      store_values<V>(dx + r * width, first, gradient);
    });
  }
}

constexpr int kRowsAtOnce = kThreads / 32;

/// Blocks of 32·V columns; each warp takes every eighth row of the block's share of the rows. For each block row, parts
/// holds Σ dy x̂ of all columns, then Σ dy.
template <class T, int V>
__global__ void sum_columns(std::int64_t rows, std::int64_t width, const T* dy, const T* x, const float* means,
                            const float* inverse_stds, float* parts) {
  __shared__ float sums[2][kRowsAtOnce][32 * V];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * 32 + lane) * V;
  Values<V> products{}, plain{};
  if (first < width) {
    for (std::int64_t r = static_cast<std::int64_t>(blockIdx.y) * kRowsAtOnce + warp; r < rows;
         r += static_cast<std::int64_t>(gridDim.y) * kRowsAtOnce) {
      const Values<V> gradient = load_values<V>(dy + r * width, first), a = load_values<V>(x + r * width, first);
      const float mean = means[r], inverse_std = inverse_stds[r];
      for (int k = 0; k < V; ++k) {
        products.v[k] += gradient.v[k] * ((a.v[k] - mean) * inverse_std);
        plain.v[k] += gradient.v[k];
      }
    }
  }
  for (int k = 0; k < V; ++k) {
    sums[0][warp][lane * V + k] = products.v[k];
    sums[1][warp][lane * V + k] = plain.v[k];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < 2 * 32 * V; i += kThreads) {
    const int which = i / (32 * V), column = i % (32 * V);
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * 32 * V + column;
    if (at >= width) continue;
    float sum = 0;
    for (int w = 0; w < kRowsAtOnce; ++w) sum += sums[which][w][column];
    parts[(2 * static_cast<std::int64_t>(blockIdx.y) + which) * width + at] = sum;
  }
}

/// Blocks of 32 columns of both sums, side by side.
template <class T>
__global__ void finish_columns(std::int64_t width, int count, const float* parts, T* dscale, T* dbias) {
  __shared__ float sums[kRowsAtOnce][32];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * 32 + lane;
  float sum = 0;
  if (column < 2 * width)
    for (int part = warp; part < count; part += kRowsAtOnce) sum += parts[2 * part * width + column];
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= 2 * width) return;
  for (int w = 1; w < kRowsAtOnce; ++w) sum += sums[w][lane];
  if (column < width) dscale[column] = narrowed<T>(sum);
  else dbias[column - width] = narrowed<T>(sum);
}

template <class T>
int vector_of(std::int64_t width) {
  return width % kWide<T> == 0 ? kWide<T> : 1;
}

/// Parts of the rows: about 1024 blocks in all, whose warps have four rows or more each. Adding more than 128 parts
/// would take noticeable time.
template <class T>
int parts_of(const Call& c) {
  const std::int64_t width = c.parameters[0], columns = ceil_div(width, 32 * vector_of<T>(width));
  const std::int64_t fill = ceil_div(1024, columns), most = ceil_div(c.n * c.parameters[1], 4 * kRowsAtOnce);
  return static_cast<int>(std::clamp<std::int64_t>(std::min(fill, most), 1, 128));
}

template <class T>
std::size_t column_scratch(const DeviceCall& c) {
  return 2 * sizeof(float) * c.parameters[0] * static_cast<std::size_t>(parts_of<T>(c));
}

template <class T>
void forward(const DeviceCall& c) {
  const std::int64_t width = c.parameters[0], rows = c.n * c.parameters[1];
  over_rows<T>(rows, width, [&](auto group, auto vector, unsigned blocks) {
    normalize_rows<T, decltype(group)::value, decltype(vector)::value><<<blocks, kThreads, 0, c.stream>>>(
        rows, width, c.at<T>(0), c.at<T>(1), c.at<T>(2), c.at<T>(3), c.at<float>(4), c.at<float>(5));
  });
}

template <class T, int V>
void launch_columns(const DeviceCall& c) {
  const std::int64_t width = c.parameters[0], rows = c.n * c.parameters[1];
  const dim3 blocks(static_cast<unsigned>(ceil_div(width, 32 * V)), static_cast<unsigned>(parts_of<T>(c)));
  sum_columns<T, V><<<blocks, kThreads, 0, c.stream>>>(rows, width, c.at<T>(0), c.at<T>(1), c.at<float>(3),
                                                       c.at<float>(4), c.scratch_at<float>());
}

template <class T>
void data_gradient(const DeviceCall& c) {
  const std::int64_t width = c.parameters[0], rows = c.n * c.parameters[1];
  over_rows<T>(rows, width, [&](auto group, auto vector, unsigned blocks) {
    row_gradients<T, decltype(group)::value, decltype(vector)::value><<<blocks, kThreads, 0, c.stream>>>(
        rows, width, c.at<T>(0), c.at<T>(1), c.at<T>(2), c.at<float>(3), c.at<float>(4), c.at<T>(5));
  });
  if (vector_of<T>(width) == 1) launch_columns<T, 1>(c);
  else launch_columns<T, kWide<T>>(c);
  finish_columns<T><<<static_cast<unsigned>(ceil_div(2 * width, 32)), kThreads, 0, c.stream>>>(
      width, parts_of<T>(c), c.scratch_at<float>(), c.at<T>(6), c.at<T>(7));
}

template <class T>
void add_all(std::vector<Launch>& list, const std::string& method) {
  list.push_back({"layer_norm-forward" + method, forward<T>, no_scratch});
  list.push_back({"layer_norm-data_gradient" + method, data_gradient<T>, column_scratch<T>});
}

}  // namespace

void add_layer_norm_launches(std::vector<Launch>& list) {
  add_all<float>(list, "/fp32");
  add_all<std::uint16_t>(list, "/bf16");
}

}  // namespace stepcast::kernels
