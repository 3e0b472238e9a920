// Biases of a tensor x[outer][channel][inner] are written before a product adds to them. Their gradient is the sum of
// each channel. A product that adds to the bias rounds once; adding afterwards moves as much and rounds twice.
#pragma once

#include <algorithm>

#include <cub/block/block_reduce.cuh>

#include "kernels/cuda/stored.cuh"

namespace stepcast::kernels {

template <class T>
struct WriteBias {
  const T* bias;
  T* x;
  std::int64_t count, channels, inner;
  __device__ void operator()(std::int64_t g) const {
    Pack<T> pack;
    std::int64_t channel = 4 * g / inner % channels, at = 4 * g % inner;
    for (int k = 0; k < 4; ++k) {
      pack.v[k] = bias[channel];
      if (++at < inner) continue;
      at = 0;
      channel = channel + 1 < channels ? channel + 1 : 0;
    }
    store(x, g, count, pack);
  }
};

template <class T>
void write_bias(const DeviceCall& call, const T* bias, T* x, std::int64_t outer, std::int64_t channels,
                std::int64_t inner) {
  const std::int64_t count = outer * channels * inner;
  sweep_groups(call, count, WriteBias<T>{bias, x, count, channels, inner});
}

inline constexpr int kColumnsAtOnce = 32, kRowsAtOnce = kThreads / kColumnsAtOnce;

/// Sums of the slice blockIdx.y of the rows, for 32 columns: a warp reads 32 neighbours.
template <class T>
__global__ void sum_columns(const T* x, std::int64_t rows, std::int64_t channels, float* sums) {
  __shared__ float parts[kRowsAtOnce][kColumnsAtOnce + 1];
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kColumnsAtOnce + threadIdx.x;
  float sum = 0;
  if (channel < channels)
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * kRowsAtOnce + threadIdx.y; row < rows;
         row += static_cast<std::int64_t>(gridDim.y) * kRowsAtOnce)
      sum += widen(x[row * channels + channel]);
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || channel >= channels) return;
  for (int k = 1; k < kRowsAtOnce; ++k) sum += parts[k][threadIdx.x];
  sums[blockIdx.y * channels + channel] = sum;
}

/// Sums of the slice blockIdx.y of the images for the channel blockIdx.x.
template <class T>
__global__ void sum_planes(const T* x, std::int64_t outer, std::int64_t channels, std::int64_t inner, float* sums) {
  __shared__ typename cub::BlockReduce<float, kThreads>::TempStorage storage;
  float sum = 0;
  for (std::int64_t i = blockIdx.y; i < outer; i += gridDim.y) {
    const T* plane = x + (i * channels + blockIdx.x) * inner;
    for (std::int64_t k = threadIdx.x; k < inner; k += kThreads) sum += widen(plane[k]);
  }
  sum = cub::BlockReduce<float, kThreads>(storage).Sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.y * channels + blockIdx.x] = sum;
}

template <class T>
struct AddSlices {
  const float* sums;
  std::int64_t slices, channels;
  T* to;
  __device__ void operator()(std::int64_t channel) const {
    float sum = 0;
    for (std::int64_t k = 0; k < slices; ++k) sum += sums[k * channels + channel];
    store_rounded(to[channel], sum);
  }
};

/// Blocks that share the sum of a channel: about a thousand in all, each with some rows.
inline std::int64_t slices_of(std::int64_t outer, std::int64_t channels, std::int64_t inner) {
  const std::int64_t blocks = inner == 1 ? ceil_div(channels, kColumnsAtOnce) : channels,
                     work = inner == 1 ? ceil_div(outer, 4 * kRowsAtOnce) : outer;
  return std::max<std::int64_t>(1, std::min({work, ceil_div(1024, blocks), std::int64_t{256}}));
}

inline std::size_t channel_sum_scratch(std::int64_t outer, std::int64_t channels, std::int64_t inner) {
  return sizeof(float) * (slices_of(outer, channels, inner) * channels);
}

/// sums[channel] = Σ x[·][channel][·] in fp32.
/// @param scratch  channel_sum_scratch
template <class T>
void sum_channels(const DeviceCall& call, const T* x, std::int64_t outer, std::int64_t channels, std::int64_t inner,
                  T* sums, void* scratch) {
  const std::int64_t slices = slices_of(outer, channels, inner);
  float* parts = static_cast<float*>(scratch);
  const auto y = static_cast<unsigned>(slices);
  if (inner == 1)
    sum_columns<<<dim3(static_cast<unsigned>(ceil_div(channels, kColumnsAtOnce)), y), dim3(kColumnsAtOnce, kRowsAtOnce),
                  0, call.stream>>>(x, outer, channels, parts);
  else
    sum_planes<<<dim3(static_cast<unsigned>(channels), y), kThreads, 0, call.stream>>>(x, outer, channels, inner,
                                                                                       parts);
  sweep<<<blocks_for(channels), kThreads, 0, call.stream>>>(channels, AddSlices<T>{parts, slices, channels, sums});
}

}  // namespace stepcast::kernels
