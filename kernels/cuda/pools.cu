// One thread an output forward, one thread an input backward. Neighbours read neighbours, and windows that overlap are
// found in cache.
#include "kernels/code/windows.hpp"
#include "kernels/cuda/elements.cuh"

namespace stepcast::kernels {
namespace {

/// The place of an element in its plane. Divides in 32 bits where that is enough: planes are small, and 64 bits would
/// cost more than the window.
struct Place {
  std::int64_t plane;
  int y, x;
  __device__ Place(std::int64_t i, int height, int width) {
    if (i <= 0xffffffff) {
      const auto small = static_cast<std::uint32_t>(i), row = small / static_cast<std::uint32_t>(width);
      x = static_cast<int>(small % static_cast<std::uint32_t>(width));
      y = static_cast<int>(row % static_cast<std::uint32_t>(height));
      plane = row / static_cast<std::uint32_t>(height);
    } else {
      const std::int64_t row = i / width;
      x = static_cast<int>(i % width);
      y = static_cast<int>(row % height);
      plane = row / height;
    }
  }
};

template <class T>
struct MaxForward {
  Windows w;
  const T* x;
  T* y;
  std::uint8_t* places;
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, w.out_height(), w.out_width());
    const T* plane = x + at.plane * w.height * w.width;
    const int top = at.y * w.stride - w.padding_height, left = at.x * w.stride - w.padding_width;
    float best = 0;
    int place = -1;
    for (int dy = 0; dy < w.kernel_height; ++dy)
      for (int dx = 0; dx < w.kernel_width; ++dx) {
        if (!w.inside(top + dy, left + dx)) continue;
        const float value = widened(plane[static_cast<std::int64_t>(top + dy) * w.width + left + dx]);
        if (place >= 0 && !larger_or_nan(value, best)) continue;
        best = value;
        place = dy * w.kernel_width + dx;
      }
    y[i] = narrowed<T>(best);
    places[i] = static_cast<std::uint8_t>(place);
  }
};

template <class T>
struct AverageForward {
  Windows w;
  const T* x;
  T* y;
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, w.out_height(), w.out_width());
    const T* plane = x + at.plane * w.height * w.width;
    const int top = at.y * w.stride - w.padding_height, left = at.x * w.stride - w.padding_width;
    float sum = 0;
    for (int dy = 0; dy < w.kernel_height; ++dy)
      for (int dx = 0; dx < w.kernel_width; ++dx)
        if (w.inside(top + dy, left + dx))
          sum += widened(plane[static_cast<std::int64_t>(top + dy) * w.width + left + dx]);
    y[i] = narrowed<T>(sum / static_cast<float>(w.kernel_height * w.kernel_width));
  }
};

/// The first and last output whose windows reach a padded position p of n outputs.
struct Reach {
  int first, last;
  __device__ Reach(int p, int kernel, int stride, int n) {
    first = p < kernel ? 0 : (p - kernel) / stride + 1;
    last = p / stride < n - 1 ? p / stride : n - 1;
  }
};

/// dx = Σ dy over the windows that hold the input, or over those that took it, where `places` says which they took.
template <class T>
struct Gather {
  Windows w;
  const T* dy;
  const std::uint8_t* places;
  float divisor;
  T* dx;
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, w.height, w.width);
    const int y = at.y + w.padding_height, x = at.x + w.padding_width, out_width = w.out_width();
    const Reach rows(y, w.kernel_height, w.stride, w.out_height()), columns(x, w.kernel_width, w.stride, out_width);
    const std::int64_t plane = at.plane * w.out_height() * out_width;
    float sum = 0;
    for (int oy = rows.first; oy <= rows.last; ++oy)
      for (int ox = columns.first; ox <= columns.last; ++ox) {
        const std::int64_t output = plane + static_cast<std::int64_t>(oy) * out_width + ox;
        if (places == nullptr || places[output] == (y - oy * w.stride) * w.kernel_width + x - ox * w.stride)
          sum += widened(dy[output]);
      }
    dx[i] = narrowed<T>(sum / divisor);
  }
};

template <class Op>
void over_elements(const DeviceCall& c, std::int64_t plane, const Op& op) {
  const std::int64_t n = c.n * c.parameters[0] * plane;
  sweep<<<blocks_for(n), kThreads, 0, c.stream>>>(n, op);
}

template <class T>
void max_forward(const DeviceCall& c) {
  const Windows w = windows_of(c.parameters);
  over_elements(c, std::int64_t{w.out_height()} * w.out_width(),
                MaxForward<T>{w, c.at<T>(0), c.at<T>(1), c.at<std::uint8_t>(2)});
}
template <class T>
void average_forward(const DeviceCall& c) {
  const Windows w = windows_of(c.parameters);
  over_elements(c, std::int64_t{w.out_height()} * w.out_width(), AverageForward<T>{w, c.at<T>(0), c.at<T>(1)});
}
template <class T>
void max_data_gradient(const DeviceCall& c) {
  const Windows w = windows_of(c.parameters);
  over_elements(c, std::int64_t{w.height} * w.width, Gather<T>{w, c.at<T>(0), c.at<std::uint8_t>(1), 1.0F, c.at<T>(2)});
}
template <class T>
void average_data_gradient(const DeviceCall& c) {
  const Windows w = windows_of(c.parameters);
  over_elements(c, std::int64_t{w.height} * w.width,
                Gather<T>{w, c.at<T>(0), nullptr, static_cast<float>(w.kernel_height * w.kernel_width), c.at<T>(1)});
}

template <class T>
void add_all(std::vector<Launch>& list, const std::string& method) {
  list.push_back({"max_pool-forward" + method, max_forward<T>, no_scratch});
  list.push_back({"max_pool-data_gradient" + method, max_data_gradient<T>, no_scratch});
  list.push_back({"average_pool-forward" + method, average_forward<T>, no_scratch});
  list.push_back({"average_pool-data_gradient" + method, average_data_gradient<T>, no_scratch});
}

}  // namespace

void add_pool_launches(std::vector<Launch>& list) {
  add_all<float>(list, "/fp32");
  add_all<std::uint16_t>(list, "/bf16");
}

}  // namespace stepcast::kernels
