// Forward reads the logits once: each thread keeps the largest so far and the sum of exponentials relative to it
// (Milakov and Gimelshein 2018).
#include "kernels/cuda/rows.cuh"

namespace stepcast::kernels {
namespace {

__device__ float negative_infinity() { return __int_as_float(static_cast<int>(0xff800000U)); }

/// Σ exp(x - most) over x above -∞; with none, most is -∞ and the sum 0.
struct Exponentials {
  float most, sum;
};

/// The sum relative to a largest that is no smaller. A sum that is NaN stays so.
__device__ float relative_to(const Exponentials& a, float most) {
  return a.most == most ? a.sum : a.sum * expf(a.most - most);
}

struct CombineExponentials {
  __device__ Exponentials operator()(const Exponentials& a, const Exponentials& b) const {
    const float most = fmaxf(a.most, b.most);
    return {most, relative_to(a, most) + relative_to(b, most)};
  }
};

template <class T, int kGroup, int V>
__global__ void row_losses(std::int64_t rows, std::int64_t classes, const T* logits, const std::uint32_t* labels,
                           float* losses, float* log_sums) {
  const RowShare<kGroup> share;
  for (std::int64_t r = share.first; r < rows; r += share.step) {
    const T* row = logits + r * classes;
    Exponentials mine{negative_infinity(), 0};
    for_row<kGroup, V>(row, classes, share.place, [&](std::int64_t, const Values<V>& x) {
      float most = mine.most;
      for (const float value : x.v) most = fmaxf(most, value);
      mine = {most, relative_to(mine, most)};
      for (const float value : x.v)
        if (value != negative_infinity()) mine.sum += expf(value - most);
    });
    const Exponentials all = reduce_group<kGroup>(mine, CombineExponentials{});
    if (share.place != 0) continue;
    const float log_sum = all.most + logf(all.sum);
    log_sums[r] = log_sum;
    losses[r] = log_sum - widened(row[labels[r]]);
  }
}

template <class T, int kGroup, int V>
__global__ void row_gradients(std::int64_t rows, std::int64_t classes, const T* logits, const std::uint32_t* labels,
                              const float* log_sums, T* dx) {
  const RowShare<kGroup> share;
  const auto count = static_cast<float>(rows);
  for (std::int64_t r = share.first; r < rows; r += share.step) {
    const float log_sum = log_sums[r];
    const std::int64_t label = labels[r];
    for_row<kGroup, V>(logits + r * classes, classes, share.place, [&](std::int64_t first, Values<V> x) {
      for (int k = 0; k < V; ++k) x.v[k] = (expf(x.v[k] - log_sum) - (first + k == label ? 1.0F : 0.0F)) / count;
      store_values<V>(dx + r * classes, first, x);
    });
  }
}

template <class T>
void forward(const DeviceCall& c) {
  const std::int64_t classes = c.parameters[0], rows = c.n * c.parameters[1];
  over_rows<T>(rows, classes, [&](auto group, auto vector, unsigned blocks) {
    row_losses<T, decltype(group)::value, decltype(vector)::value><<<blocks, kThreads, 0, c.stream>>>(
        rows, classes, c.at<T>(0), c.at<std::uint32_t>(1), c.at<float>(2), c.at<float>(3));
  });
}

template <class T>
void data_gradient(const DeviceCall& c) {
  const std::int64_t classes = c.parameters[0], rows = c.n * c.parameters[1];
  over_rows<T>(rows, classes, [&](auto group, auto vector, unsigned blocks) {
    row_gradients<T, decltype(group)::value, decltype(vector)::value><<<blocks, kThreads, 0, c.stream>>>(
        rows, classes, c.at<T>(0), c.at<std::uint32_t>(1), c.at<float>(2), c.at<T>(3));
  });
}

template <class T>
void add_all(std::vector<Launch>& list, const std::string& method) {
  list.push_back({"softmax_loss-forward" + method, forward<T>, no_scratch});
  list.push_back({"softmax_loss-data_gradient" + method, data_gradient<T>, no_scratch});
}

}  // namespace

void add_softmax_loss_launches(std::vector<Launch>& list) {
  add_all<float>(list, "/fp32");
  add_all<std::uint16_t>(list, "/bf16");
}

}  // namespace stepcast::kernels
