// Pooling over height and width: the largest of a window, or its mean over all places. Places in the padding count as
// zeros (as in PyTorch). Max-pooling notes in a byte which place of the window it took, and backward hands dy to that
// place. Each input gathers from the windows that contain it, so that the order of additions is fixed.
//
// Max: the first of the largest, or the first NaN if there is one; padding is never taken. Average: a NaN or infinity
// is in all its windows. Bytes: forward x in and y out, backward dy in and dx out, places besides. Operations: one for
// each place of each window, as in models/workload/layer_work.cpp.
#include <algorithm>
#include <stdexcept>

#include "kernels/code/windows.hpp"
#include "kernels/cpu/typed.hpp"

namespace stepcast::kernels {
namespace {

constexpr std::int64_t kMostPlaces = 256;  // a place is a byte

/// visit(output, place in the window, input) for every place inside the input; planes in order, windows in order.
template <class Visit>
void for_places(const Call& c, const Visit& visit) {
  const Windows w = windows_of(c.parameters);
  const std::int64_t in = std::int64_t{w.height} * w.width;
  std::int64_t output = 0;
  for (std::int64_t plane = 0; plane < c.n * c.parameters[0]; ++plane)
    for (int oy = 0; oy < w.out_height(); ++oy)
      for (int ox = 0; ox < w.out_width(); ++ox, ++output)
        for (int place = 0; place < w.kernel_height * w.kernel_width; ++place) {
          const int y = oy * w.stride - w.padding_height + place / w.kernel_width,
                    x = ox * w.stride - w.padding_width + place % w.kernel_width;
          if (w.inside(y, x)) visit(output, place, plane * in + y * w.width + x);
        }
}

/// x, y, places
template <class T>
void max_forward(const Call& c) {
  const T* x = c.at<T>(0);
  std::int64_t current = -1;
  for_places(c, [&](std::int64_t output, int place, std::int64_t at) {
    if (output == current && !larger_or_nan(widened(x[at]), widened(c.at<T>(1)[output]))) return;
    current = output;
    c.at<T>(1)[output] = x[at];
    c.at<std::uint8_t>(2)[output] = static_cast<std::uint8_t>(place);
  });
}

std::int64_t outputs_of(const Call& c) {
  const Windows w = windows_of(c.parameters);
  return c.n * c.parameters[0] * w.out_height() * w.out_width();
}
std::int64_t inputs_of(const Call& c) { return c.n * c.parameters[0] * c.parameters[6] * c.parameters[7]; }

/// Places of an earlier forward pass: a place drawn by the seed for some windows, and the first one inside the input
/// for the others.
void draw_places(const Call& c) {
  std::int64_t current = -1;
  for_places(c, [&](std::int64_t output, int place, std::int64_t) {
    const bool later = ((c.seed >> (place % 61)) ^ static_cast<std::uint64_t>(output)) % 2 == 1;
    if (output != current || later) c.at<std::uint8_t>(1)[output] = static_cast<std::uint8_t>(place);
    current = output;
  });
}

template <class T>
void put_all(T* to, const std::vector<double>& sums, double divisor) {
  for (std::size_t i = 0; i < sums.size(); ++i) put(to, static_cast<std::int64_t>(i), sums[i] / divisor);
}

/// dy, places, dx
template <class T>
void max_data_gradient(const Call& c) {
  std::vector<double> sums(inputs_of(c));
  for_places(c, [&](std::int64_t output, int place, std::int64_t at) {
    if (c.at<std::uint8_t>(1)[output] == place) sums[at] += real(c.at<T>(0), output);
  });
  put_all(c.at<T>(2), sums, 1);
}

double places(const Call& c) { return static_cast<double>(c.parameters[1] * c.parameters[2]); }

template <class T>
void average_forward(const Call& c) {
  std::vector<double> sums(outputs_of(c));
  for_places(c, [&](std::int64_t output, int, std::int64_t at) { sums[output] += real(c.at<T>(0), at); });
  put_all(c.at<T>(1), sums, places(c));
}

template <class T>
void average_data_gradient(const Call& c) {
  std::vector<double> sums(inputs_of(c));
  for_places(c, [&](std::int64_t output, int, std::int64_t at) { sums[at] += real(c.at<T>(0), output); });
  put_all(c.at<T>(1), sums, places(c));
}

void check(const PoolShape& s) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument("pool: " + what); };
  if (s.padding_height >= s.kernel_height || s.padding_width >= s.kernel_width)
    fail("a window may lie in the padding alone; allowed: padding below the kernel");
  if (s.height + 2 * s.padding_height < s.kernel_height || s.width + 2 * s.padding_width < s.kernel_width)
    fail("the kernel is larger than the input with its padding");
  if (!s.average && s.kernel_height * s.kernel_width > kMostPlaces)
    fail("a max-pool's window has " + std::to_string(s.kernel_height * s.kernel_width) + " places; allowed: up to 256");
}

}  // namespace

/// @throws std::invalid_argument for impossible windows
LayerKernels pool_layer(const PoolShape& shape, Precision precision) {
  check(shape);
  return of_precision(precision, [&]<class T>() {
    const std::vector<std::int64_t> parameters{shape.channels, shape.kernel_height,  shape.kernel_width,
                                               shape.stride,   shape.padding_height, shape.padding_width,
                                               shape.height,   shape.width};
    const Windows w = windows_of(parameters.data());
    const bool max = !shape.average;
    const std::int64_t in = shape.channels * shape.height * shape.width,
                       out = shape.channels * w.out_height() * w.out_width();
    const std::int64_t window = shape.kernel_height * shape.kernel_width;
    // An input is in at most this many windows. A sum of k numbers in a row has k - 1 roundings of its partial sums.
    const std::int64_t overlap =
        ceil_div(shape.kernel_height, shape.stride) * ceil_div(shape.kernel_width, shape.stride);
    const double forward_tolerance = max ? 0 : static_cast<double>(2 * window) * kFloatRounding;
    const double backward_tolerance = max && overlap == 1 ? 0 : static_cast<double>(2 * overlap) * kFloatRounding;
    const auto bytes = [=](std::int64_t n) {
      return static_cast<double>(n) *
             static_cast<double>(static_cast<std::int64_t>(sizeof(T)) * (in + out) + (max ? out : 0));
    };
    const auto flops = [=](std::int64_t n) { return static_cast<double>(n * out * window); };
    const std::string name = max ? "max_pool" : "average_pool";
    LayerKernels layer;
    layer.forward = Kernel{name + "-forward",
                           kMethod<T>,
                           parameters,
                           [=](std::int64_t n) {
                             std::vector<Buffer> all{as(Role::input, input<T>("x", n * in)),
                                                     as(Role::output, result<T>("y", n * out, forward_tolerance))};
                             if (max) all.push_back(as(Role::kept, {"places", Element::u8, n * out, Fill::zero, true}));
                             return all;
                           },
                           bytes,
                           flops,
                           max ? max_forward<T> : average_forward<T>};
    layer.data_gradient = Kernel{name + "-data_gradient",
                                 kMethod<T>,
                                 parameters,
                                 [=](std::int64_t n) {
                                   std::vector<Buffer> all{as(Role::output_gradient, input<T>("dy", n * out))};
                                   if (max) {
                                     all.push_back(as(Role::kept, {"places", Element::u8, n * out, Fill::prepared}));
                                     all.back().below = window;
                                   }
                                   all.push_back(as(Role::input_gradient, result<T>("dx", n * in, backward_tolerance)));
                                   return all;
                                 },
                                 bytes,
                                 flops,
                                 max ? max_data_gradient<T> : average_data_gradient<T>,
                                 max ? std::function<void(const Call&)>(draw_places) : nullptr};
    return layer;
  });
}

}  // namespace stepcast::kernels
