#include <algorithm>
#include <cmath>

#include "kernels/cuda/gemm.hpp"
#include "kernels/cuda/stored.cuh"
#include "kernels/products.hpp"

namespace stepcast::kernels {
namespace {

constexpr int kWarp = 32;

__device__ float warp_sum(float x) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) x += __shfl_xor_sync(0xffffffffU, x, lanes);
  return x;
}

/// The largest number so far, and Σ exp(x - most).
struct Running {
  float most, sum;
  __device__ void add(float x) { merge(x, 1.0F); }
  __device__ void merge(float other_most, float other_sum) {
    const float larger = other_most > most ? other_most : most;
    // Nothing so far: -∞ less -∞ would be NaN.
    sum = (most == larger ? sum : sum * expf(most - larger)) +
          (other_most == larger ? other_sum : other_sum * expf(other_most - larger));
    most = larger;
  }
};

/// softmax(scale·row) in place, a warp a row. One sweep finds maximum and sum, a second one writes; it finds the row in
/// the cache.
template <class T>
__global__ void soften(T* rows, std::int64_t count, std::int64_t width, float scale) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / kWarp);
  for (std::int64_t r = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp; r < count;
       r += warps) {
    T* row = rows + r * width;
    Running running{-INFINITY, 0.0F};
    for (std::int64_t j = lane; j < width; j += kWarp) running.add(scale * widen(row[j]));
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
      const float most = __shfl_xor_sync(0xffffffffU, running.most, lanes),
                  sum = __shfl_xor_sync(0xffffffffU, running.sum, lanes);
      running.merge(most, sum);
    }
    for (std::int64_t j = lane; j < width; j += kWarp)
      store_rounded(row[j], expf(scale * widen(row[j]) - running.most) / running.sum);
  }
}

/// dS = P∘(dP - Σ P∘dP)·scale in dP's place, a warp a row.
template <class T>
__global__ void soften_gradient(const T* probabilities, T* gradient, std::int64_t count, std::int64_t width,
                                float scale) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / kWarp);
  for (std::int64_t r = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp; r < count;
       r += warps) {
    const T* p = probabilities + r * width;
    T* d = gradient + r * width;
    float sum = 0.0F;
    for (std::int64_t j = lane; j < width; j += kWarp) sum += widen(p[j]) * widen(d[j]);
    sum = warp_sum(sum);
    for (std::int64_t j = lane; j < width; j += kWarp) store_rounded(d[j], widen(p[j]) * (widen(d[j]) - sum) * scale);
  }
}

/// The part of a tensor that belongs to one sample and one head, as an operand.
struct Parts {
  explicit Parts(const DeviceCall& call) : n(call.n), s(attention_shape(call.parameters)) {}
  std::int64_t n;
  AttentionShape s;

  [[nodiscard]] std::int64_t width() const { return s.d / s.heads; }
  [[nodiscard]] std::int64_t rows() const { return n * s.heads * s.sequence; }
  [[nodiscard]] float scale() const { return static_cast<float>(1 / std::sqrt(static_cast<double>(width()))); }
  [[nodiscard]] Operand queries(const void* data) const { return {data, s.d, false, s.sequence * s.d, width()}; }
  [[nodiscard]] Operand keys(const void* data) const { return {data, s.d, false, s.memory * s.d, width()}; }
  [[nodiscard]] Operand scores(const void* data) const {
    return {data, s.memory, false, s.heads * s.sequence * s.memory, s.sequence * s.memory};
  }

  /// C (m x n) = A (m x k) B (k x n) for each sample and head.
  [[nodiscard]] Product product(std::int64_t rows_, std::int64_t columns, std::int64_t k, const Operand& a,
                                const Operand& b, const Operand& c) const {
    Product all{rows_, columns, k, a, b, {const_cast<void*>(c.data), c.pitch, c.outer, c.inner}};
    all.outer_count = n;
    all.inner_count = s.heads;
    return all;
  }
};

Operand transposed(Operand operand) {
  operand.transposed = true;
  return operand;
}

template <Precision kPrecision>
void forward(const DeviceCall& c) {
  using T = Stored<kPrecision>;
  using B = AttentionForward;
  const Parts parts(c);
  const AttentionShape& s = parts.s;
  const Operand probabilities = parts.scores(c.buffers[B::probabilities]);
  multiply(c, kPrecision,
           parts.product(s.sequence, s.memory, parts.width(), parts.queries(c.buffers[B::q]),
                         transposed(parts.keys(c.buffers[B::k])), probabilities),
           c.scratch);
  soften<<<blocks_for(kWarp * parts.rows()), kThreads, 0, c.stream>>>(c.at<T>(B::probabilities), parts.rows(), s.memory,
                                                                      parts.scale());
  multiply(c, kPrecision,
           parts.product(s.sequence, parts.width(), s.memory, probabilities, parts.keys(c.buffers[B::v]),
                         parts.queries(c.buffers[B::y])),
           c.scratch);
}

/// The same for each of the products: either all have unevenly spaced operands, or none has.
std::size_t pointer_scratch(const DeviceCall& c) {
  const Parts parts(c);
  const AttentionShape& s = parts.s;
  return std::max(pointer_bytes(parts.product(s.sequence, s.memory, parts.width(), parts.queries(nullptr),
                                              parts.keys(nullptr), parts.scores(nullptr))),
                  pointer_bytes(parts.product(s.memory, parts.width(), s.sequence, parts.scores(nullptr),
                                              parts.queries(nullptr), parts.keys(nullptr))));
}

template <Precision kPrecision>
void data_gradient(const DeviceCall& c) {
  using T = Stored<kPrecision>;
  using B = AttentionDataGradient;
  const Parts parts(c);
  const AttentionShape& s = parts.s;
  T* scores = c.scratch_at<T>(aligned(pointer_scratch(c)));
  const Operand probabilities = parts.scores(c.buffers[B::probabilities]), ds = parts.scores(scores),
                dy = parts.queries(c.buffers[B::dy]);
  const std::int64_t width = parts.width();
  multiply(c, kPrecision,
           parts.product(s.memory, width, s.sequence, transposed(probabilities), dy, parts.keys(c.buffers[B::dv])),
           c.scratch);
  multiply(c, kPrecision, parts.product(s.sequence, s.memory, width, dy, transposed(parts.keys(c.buffers[B::v])), ds),
           c.scratch);
  soften_gradient<<<blocks_for(kWarp * parts.rows()), kThreads, 0, c.stream>>>(c.at<T>(B::probabilities), scores,
                                                                               parts.rows(), s.memory, parts.scale());
  multiply(c, kPrecision,
           parts.product(s.sequence, width, s.memory, ds, parts.keys(c.buffers[B::k]), parts.queries(c.buffers[B::dq])),
           c.scratch);
  multiply(c, kPrecision,
           parts.product(s.memory, width, s.sequence, transposed(ds), parts.queries(c.buffers[B::q]),
                         parts.keys(c.buffers[B::dk])),
           c.scratch);
}

template <Precision kPrecision>
std::size_t data_scratch(const DeviceCall& c) {
  const Parts parts(c);
  return aligned(pointer_scratch(c)) + sizeof(Stored<kPrecision>) * (parts.rows() * parts.s.memory);
}

}  // namespace

void add_attention_launches(std::vector<Launch>& list) {
  for_each_precision([&](auto precision) {
    constexpr Precision kPrecision = decltype(precision)::value;
    const std::string method = name_of(kPrecision);
    list.push_back({"attention-forward/" + method, forward<kPrecision>, pointer_scratch});
    list.push_back({"attention-data-gradient/" + method, data_gradient<kPrecision>, data_scratch<kPrecision>});
  });
}

}  // namespace stepcast::kernels
