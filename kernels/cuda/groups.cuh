// Sweeps over vectors in groups of four elements, so that loads and stores are wide; the last group may be short.
#pragma once

#include <stdexcept>
#include <string>

#include "kernels/code/portable.hpp"
#include "kernels/cuda/launch.hpp"

namespace stepcast::kernels {

inline constexpr int kThreads = 256;

/// Blocks for `work` threads' worth; kernels stride over the grid, so a cap does no harm.
inline unsigned blocks_for(std::int64_t work, std::int64_t most = 1 << 20) {
  const std::int64_t blocks = ceil_div(work, kThreads);
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

template <class T>
struct alignas(4 * sizeof(T)) Pack {
  T v[4];
};

/// Elements 4·group to 4·group + 3 of n; those beyond n are 0.
/// @pre data is aligned to four elements
template <class T>
__device__ Pack<T> load(const T* data, std::int64_t group, std::int64_t n) {
  if (4 * group + 4 <= n) return reinterpret_cast<const Pack<T>*>(data)[group];
  Pack<T> pack{};
  for (int k = 0; k < 4; ++k)
    if (4 * group + k < n) pack.v[k] = data[4 * group + k];
  return pack;
}

template <class T>
__device__ void store(T* data, std::int64_t group, std::int64_t n, const Pack<T>& pack) {
  if (4 * group + 4 <= n) {
    reinterpret_cast<Pack<T>*>(data)[group] = pack;
    return;
  }
  for (int k = 0; k < 4; ++k)
    if (4 * group + k < n) data[4 * group + k] = pack.v[k];
}

template <class Op>
__global__ void sweep(std::int64_t groups, Op op) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t g = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += stride)
    op(g);
}

/// op(g) for each group of four of n elements.
template <class Op>
void sweep_groups(const DeviceCall& call, std::int64_t n, const Op& op) {
  const std::int64_t groups = ceil_div(n, 4);
  sweep<<<blocks_for(groups), kThreads, 0, call.stream>>>(groups, op);
}

/// Groups of four in a bucket of QSGD.
/// @throws std::invalid_argument unless buckets are whole groups
inline std::uint32_t groups_of_bucket(std::int64_t bucket) {
  if (bucket < 4 || bucket % 4 != 0)
    throw std::invalid_argument("QSGD's bucket of " + std::to_string(bucket) + " elements; allowed: multiples of 4");
  return static_cast<std::uint32_t>(bucket / 4);
}

/// value(g, n): the four decoded values of a group.
template <class Value>
struct Decode {
  Value value;
  float* dense;
  std::int64_t n;
  bool add;

  __device__ void operator()(std::int64_t g) const {
    Pack<float> decoded = value(g, n);
    if (add) {
      const Pack<float> sum = load(dense, g, n);
      for (int k = 0; k < 4; ++k) decoded.v[k] = sum.v[k] + decoded.v[k];
    }
    store(dense, g, n, decoded);
  }
};

template <class Value>
void decode(const DeviceCall& call, const Value& value, float* dense, bool add) {
  sweep_groups(call, call.n, Decode<Value>{value, dense, call.n, add});
}

}  // namespace stepcast::kernels
