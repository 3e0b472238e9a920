// Backward adds rows by atomics, in the order in which they come. In bf16, too, the sums are fp32. Each entry that
// occurs has a row of sums in scratch, the row of its first occurrence. At the end it is rounded into the gradient.
// Scratch is therefore as large as dy, not as the table.
#include "kernels/cuda/rows.cuh"

namespace stepcast::kernels {
namespace {

template <class T, int kGroup, int V>
__global__ void copy_rows(std::int64_t rows, std::int64_t width, const T* table, const std::uint32_t* indices, T* y) {
  const RowShare<kGroup> share;
  for (std::int64_t r = share.first; r < rows; r += share.step)
    for_row<kGroup, V>(table + indices[r] * width, width, share.place,
                       [&](std::int64_t first, const Values<V>& a) { store_values<V>(y + r * width, first, a); });
}

/// first[entry] = the lowest row with that entry.
struct FindFirst {
  const std::uint32_t* indices;
  std::uint32_t* first;
  __device__ void operator()(std::int64_t r) const { atomicMin(&first[indices[r]], static_cast<std::uint32_t>(r)); }
};

/// sums[target] += dy[r], where the target is the row's entry or, by `first`, the entry's first row.
template <class T, int kGroup, int V>
__global__ void add_rows(std::int64_t rows, std::int64_t width, const T* dy, const std::uint32_t* indices,
                         const std::uint32_t* first_of, float* sums) {
  const RowShare<kGroup> share;
  for (std::int64_t r = share.first; r < rows; r += share.step) {
    const std::uint32_t entry = indices[r];
    float* target = sums + (first_of == nullptr ? entry : first_of[entry]) * width;
    for_row<kGroup, V>(dy + r * width, width, share.place, [&](std::int64_t first, const Values<V>& a) {
      for (int k = 0; k < V; ++k) atomicAdd(target + first + k, a.v[k]);
    });
  }
}

/// Rounds the rows of sums that are in use into the gradient.
template <class T, int kGroup, int V>
__global__ void round_rows(std::int64_t rows, std::int64_t width, const float* sums, const std::uint32_t* indices,
                           const std::uint32_t* first_of, T* gradient) {
  const RowShare<kGroup> share;
  for (std::int64_t r = share.first; r < rows; r += share.step) {
    const std::uint32_t entry = indices[r];
    if (first_of[entry] != r) continue;
    for (std::int64_t i = std::int64_t{V} * share.place; i < width; i += V * kGroup) {
      Values<V> a;
      for (int k = 0; k < V; ++k) a.v[k] = sums[r * width + i + k];
      store_values<V>(gradient + entry * width, i, a);
    }
  }
}

std::int64_t rows_of(const Call& c) { return c.n * c.parameters[2]; }

template <class T>
void forward(const DeviceCall& c) {
  const std::int64_t width = c.parameters[1], rows = rows_of(c);
  over_rows<T>(rows, width, [&](auto group, auto vector, unsigned blocks) {
    copy_rows<T, decltype(group)::value, decltype(vector)::value>
        <<<blocks, kThreads, 0, c.stream>>>(rows, width, c.at<T>(0), c.at<std::uint32_t>(1), c.at<T>(2));
  });
}

template <class T>
void zero_gradient(const DeviceCall& c) {
  cudaMemsetAsync(c.at<T>(2), 0, sizeof(T) * (c.parameters[0] * c.parameters[1]), c.stream);
}

void float_gradient(const DeviceCall& c) {
  const std::int64_t width = c.parameters[1], rows = rows_of(c);
  zero_gradient<float>(c);
  over_rows<float>(rows, width, [&](auto group, auto vector, unsigned blocks) {
    add_rows<float, decltype(group)::value, decltype(vector)::value><<<blocks, kThreads, 0, c.stream>>>(
        rows, width, c.at<float>(0), c.at<std::uint32_t>(1), nullptr, c.at<float>(2));
  });
}

std::size_t sum_bytes(const Call& c) { return sizeof(float) * (rows_of(c) * c.parameters[1]); }
std::size_t first_bytes(const Call& c) { return sizeof(std::uint32_t) * static_cast<std::size_t>(c.parameters[0]); }
std::size_t bfloat_scratch(const DeviceCall& c) { return sum_bytes(c) + first_bytes(c); }

void bfloat_gradient(const DeviceCall& c) {
  using T = std::uint16_t;
  const std::int64_t width = c.parameters[1], rows = rows_of(c);
  const auto* indices = c.at<std::uint32_t>(1);
  auto* sums = c.scratch_at<float>();
  auto* first_of = c.scratch_at<std::uint32_t>(sum_bytes(c));
  zero_gradient<T>(c);
  cudaMemsetAsync(sums, 0, sum_bytes(c), c.stream);
  cudaMemsetAsync(first_of, 0xff, first_bytes(c), c.stream);
  sweep<<<blocks_for(rows), kThreads, 0, c.stream>>>(rows, FindFirst{indices, first_of});
  over_rows<T>(rows, width, [&](auto group, auto vector, unsigned blocks) {
    add_rows<T, decltype(group)::value, decltype(vector)::value>
        <<<blocks, kThreads, 0, c.stream>>>(rows, width, c.at<T>(0), indices, first_of, sums);
    round_rows<T, decltype(group)::value, decltype(vector)::value>
        <<<blocks, kThreads, 0, c.stream>>>(rows, width, sums, indices, first_of, c.at<T>(2));
  });
}

}  // namespace

void add_embedding_launches(std::vector<Launch>& list) {
  list.push_back({"embedding-forward/fp32", forward<float>, no_scratch});
  list.push_back({"embedding-forward/bf16", forward<std::uint16_t>, no_scratch});
  list.push_back({"embedding-weight_gradient/fp32", float_gradient, no_scratch});
  list.push_back({"embedding-weight_gradient/bf16", bfloat_gradient, bfloat_scratch});
}

}  // namespace stepcast::kernels
