// A layer's elements in vectors of up to 16 bytes, as floats in registers.
#pragma once

#include "kernels/code/elements.hpp"
#include "kernels/cuda/groups.cuh"

namespace stepcast::kernels {

/// Elements of 16 bytes.
template <class T>
inline constexpr int kWide = static_cast<int>(16 / sizeof(T));

template <int V>
struct Values {
  float v[V];
};

template <class T, int V>
struct alignas(V * sizeof(T)) Chunk {
  T v[V];
};

/// Elements first to first + V - 1.
/// @pre data + first is aligned to V elements
template <int V, class T>
__device__ Values<V> load_values(const T* data, std::int64_t first) {
  const Chunk<T, V> chunk = *reinterpret_cast<const Chunk<T, V>*>(data + first);
  Values<V> values;
  for (int k = 0; k < V; ++k) values.v[k] = widened(chunk.v[k]);
  return values;
}

template <int V, class T>
__device__ void store_values(T* data, std::int64_t first, const Values<V>& values) {
  Chunk<T, V> chunk;
  for (int k = 0; k < V; ++k) chunk.v[k] = narrowed<T>(values.v[k]);
  *reinterpret_cast<Chunk<T, V>*>(data + first) = chunk;
}

/// The same of a vector with n elements: those beyond are 0, and are not written.
template <int V, class T>
__device__ Values<V> load_values(const T* data, std::int64_t first, std::int64_t n) {
  if (first + V <= n) return load_values<V>(data, first);
  Values<V> values{};
  for (int k = 0; k < V; ++k)
    if (first + k < n) values.v[k] = widened(data[first + k]);
  return values;
}

template <int V, class T>
__device__ void store_values(T* data, std::int64_t first, std::int64_t n, const Values<V>& values) {
  if (first + V <= n) return store_values<V>(data, first, values);
  for (int k = 0; k < V; ++k)
    if (first + k < n) data[first + k] = narrowed<T>(values.v[k]);
}

/// op(first) for each vector of V of n elements.
template <int V, class Op>
struct AtVectors {
  Op op;
  __device__ void operator()(std::int64_t g) const { op(V * g); }
};

template <int V, class Op>
void sweep_vectors(const DeviceCall& call, std::int64_t n, const Op& op) {
  const std::int64_t vectors = ceil_div(n, V);
  sweep<<<blocks_for(vectors), kThreads, 0, call.stream>>>(vectors, AtVectors<V, Op>{op});
}

}  // namespace stepcast::kernels
