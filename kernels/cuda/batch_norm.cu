// Two kernels each way. The first leaves each slice's part of a channel's sums in scratch. In the second, each block adds
// the parts up for itself, and sweeps again. A channel is cut into as many slices as fill the device.
#include <algorithm>

#include "kernels/code/norms.hpp"
#include "kernels/cuda/rows.cuh"

namespace stepcast::kernels {
namespace {

/// The places of a channel's vectors: `vectors` of V elements in each of `images` planes.
struct Channels {
  std::int64_t channels, images, area;
  int slices;

  /// Elements of a channel.
  __host__ __device__ std::int64_t count() const { return images * area; }
};

/// About 4096 blocks, whose threads have four vectors or more each. Beyond 1024 slices, adding the parts would take
/// noticeable time.
Channels channels_of(const Call& c) {
  const std::int64_t channels = c.parameters[0], area = c.parameters[1] * c.parameters[2];
  const std::int64_t fill = ceil_div(4096, channels), most = ceil_div(c.n * area, 4 * kThreads * 4);
  return {channels, c.n, area, static_cast<int>(std::clamp<std::int64_t>(std::min(fill, most), 1, 1024))};
}

__device__ std::int64_t channel_of_block(const Channels& s) { return blockIdx.x / static_cast<unsigned>(s.slices); }
__device__ int slice_of_block(const Channels& s) {
  return static_cast<int>(blockIdx.x % static_cast<unsigned>(s.slices));
}

/// Calls visit(first element) for each of the thread's vectors of the block's channel. The vectors of a slice are next
/// to each other. It divides only once: the step to the next vector is a fixed number of planes and of vectors.
template <int V, class Visit>
__device__ void for_channel(const Channels& s, const Visit& visit) {
  const std::int64_t plane = s.area / V, step = static_cast<std::int64_t>(s.slices) * kThreads,
                     channel = channel_of_block(s);
  const std::int64_t begin = static_cast<std::int64_t>(slice_of_block(s)) * kThreads + threadIdx.x;
  const std::int64_t images = step / plane, vectors = step % plane;
  std::int64_t image = begin / plane, at = begin % plane;
  while (image < s.images) {
    visit((image * s.channels + channel) * s.area + V * at);
    image += images;
    at += vectors;
    if (at >= plane) {
      at -= plane;
      ++image;
    }
  }
}

/// Moments of some elements: their count, their sum, and the sum of squared distances from their mean.
struct Moments {
  float count, sum, squares;
};

/// Chan, Golub and LeVeque 1979.
struct CombineMoments {
  __device__ Moments operator()(const Moments& a, const Moments& b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const float apart = b.sum / b.count - a.sum / a.count, count = a.count + b.count;
    return {count, a.sum + b.sum, a.squares + b.squares + apart * apart * (a.count * (b.count / count))};
  }
};

/// Each thread takes distances from its own first element, so that only its own elements can cancel.
template <class T, int V>
__global__ void channel_moments(Channels s, const T* x, Moments* parts) {
  float origin = 0, count = 0, sum = 0, squares = 0;
  for_channel<V>(s, [&](std::int64_t first) {
    const Values<V> a = load_values<V>(x, first);
    if (count == 0) origin = a.v[0];
    count += V;
    for (int k = 0; k < V; ++k) {
      const float distance = a.v[k] - origin;
      sum += distance;
      squares += distance * distance;
    }
  });
  Moments mine{0, 0, 0};
  if (count > 0) {
    const float left = squares - sum * (sum / count);
    mine = {count, sum + count * origin, left < 0 ? 0.0F : left};  // a NaN stays
  }
  const Moments all = reduce_group<kThreads>(mine, CombineMoments{});
  if (threadIdx.x == 0) parts[blockIdx.x] = all;
}

/// op over the parts of the block's channel.
template <class X, class Op>
__device__ X combined(const Channels& s, const X* parts, X nothing, Op op) {
  X mine = nothing;
  for (int i = static_cast<int>(threadIdx.x); i < s.slices; i += kThreads)
    mine = op(mine, parts[channel_of_block(s) * s.slices + i]);
  return reduce_group<kThreads>(mine, op);
}

template <class T, int V>
__global__ void normalize(Channels s, const T* x, const T* scale, const T* bias, const Moments* parts, T* y,
                          float* means, float* inverse_stds) {
  const std::int64_t channel = channel_of_block(s);
  const Moments all = combined(s, parts, Moments{0, 0, 0}, CombineMoments{});
  const auto count = static_cast<float>(s.count());
  const float variance = all.squares / count, inverse_std = 1.0F / sqrtf(variance + kNormEpsilon);
  const float mean = variance == variance ? all.sum / count : variance;  // NaN if the variance is
  if (slice_of_block(s) == 0 && threadIdx.x == 0) {
    means[channel] = mean;
    inverse_stds[channel] = inverse_std;
  }
  const float factor = widened(scale[channel]), offset = widened(bias[channel]);
  for_channel<V>(s, [&](std::int64_t first) {
    Values<V> a = load_values<V>(x, first);
    for (float& value : a.v) value = (value - mean) * inverse_std * factor + offset;
    store_values<V>(y, first, a);
  });
}

/// Σ dy and Σ dy (x - μ)
struct GradientSums {
  float plain, products;
};
struct AddSums {
  __device__ GradientSums operator()(const GradientSums& a, const GradientSums& b) const {
    return {a.plain + b.plain, a.products + b.products};
  }
};

template <class T, int V>
__global__ void sum_gradients(Channels s, const T* dy, const T* x, const float* means, GradientSums* parts) {
  const float mean = means[channel_of_block(s)];
  GradientSums mine{0, 0};
  for_channel<V>(s, [&](std::int64_t first) {
    const Values<V> gradient = load_values<V>(dy, first), a = load_values<V>(x, first);
    for (int k = 0; k < V; ++k) {
      mine.plain += gradient.v[k];
      mine.products += gradient.v[k] * (a.v[k] - mean);
    }
  });
  const GradientSums all = reduce_group<kThreads>(mine, AddSums{});
  if (threadIdx.x == 0) parts[blockIdx.x] = all;
}

template <class T, int V>
__global__ void finish_gradients(Channels s, const T* dy, const T* x, const T* scale, const float* means,
                                 const float* inverse_stds, const GradientSums* parts, T* dx, T* dscale, T* dbias) {
  const std::int64_t channel = channel_of_block(s);
  const GradientSums all = combined(s, parts, GradientSums{0, 0}, AddSums{});
  const auto count = static_cast<float>(s.count());
  const float mean = means[channel], inverse_std = inverse_stds[channel], products = all.products * inverse_std;
  if (slice_of_block(s) == 0 && threadIdx.x == 0) {
    dscale[channel] = narrowed<T>(products);
    dbias[channel] = narrowed<T>(all.plain);
  }
  const float factor = widened(scale[channel]) * inverse_std, plain = all.plain / count, slope = products / count;
  for_channel<V>(s, [&](std::int64_t first) {
    Values<V> gradient = load_values<V>(dy, first);
    const Values<V> a = load_values<V>(x, first);
    for (int k = 0; k < V; ++k)
      gradient.v[k] = factor * (gradient.v[k] - plain - (a.v[k] - mean) * inverse_std * slope);
    store_values<V>(dx, first, gradient);
  });
}

/// launch(vector): the widest vectors into which a plane divides.
template <class T, class Launcher>
void by_plane(const Channels& s, const Launcher& launch) {
  if (s.area % kWide<T> == 0) launch(Constant<kWide<T>>{});
  else if (s.area % 4 == 0) launch(Constant<4>{});
  else launch(Constant<1>{});
}

unsigned blocks_of(const Channels& s) { return static_cast<unsigned>(s.channels * s.slices); }

template <class T>
void forward(const DeviceCall& c) {
  const Channels s = channels_of(c);
  auto* parts = c.scratch_at<Moments>();
  by_plane<T>(s, [&](auto vector) {
    channel_moments<T, decltype(vector)::value><<<blocks_of(s), kThreads, 0, c.stream>>>(s, c.at<T>(0), parts);
    normalize<T, decltype(vector)::value><<<blocks_of(s), kThreads, 0, c.stream>>>(
        s, c.at<T>(0), c.at<T>(1), c.at<T>(2), parts, c.at<T>(3), c.at<float>(4), c.at<float>(5));
  });
}

template <class T>
void data_gradient(const DeviceCall& c) {
  const Channels s = channels_of(c);
  auto* parts = c.scratch_at<GradientSums>();
  by_plane<T>(s, [&](auto vector) {
    sum_gradients<T, decltype(vector)::value>
        <<<blocks_of(s), kThreads, 0, c.stream>>>(s, c.at<T>(0), c.at<T>(1), c.at<float>(3), parts);
    finish_gradients<T, decltype(vector)::value>
        <<<blocks_of(s), kThreads, 0, c.stream>>>(s, c.at<T>(0), c.at<T>(1), c.at<T>(2), c.at<float>(3), c.at<float>(4),
                                                  parts, c.at<T>(5), c.at<T>(6), c.at<T>(7));
  });
}

template <class Part>
std::size_t part_scratch(const DeviceCall& c) {
  return sizeof(Part) * blocks_of(channels_of(c));
}

template <class T>
void add_all(std::vector<Launch>& list, const std::string& method) {
  list.push_back({"batch_norm-forward" + method, forward<T>, part_scratch<Moments>});
  list.push_back({"batch_norm-data_gradient" + method, data_gradient<T>, part_scratch<GradientSums>});
}

}  // namespace

void add_batch_norm_launches(std::vector<Launch>& list) {
  add_all<float>(list, "/fp32");
  add_all<std::uint16_t>(list, "/bf16");
}

}  // namespace stepcast::kernels
