// Batch norm in training mode (Ioffe and Szegedy 2015) over batch, height and width of each channel, layer norm (Ba et
// al. 2016) over each row. For the m elements of a channel or row
//     μ = Σx/m,  r = 1/√(Σ(x-μ)²/m + ε),  x̂ = (x-μ) r,  y = γ x̂ + β,  ε = 1e-5.
// Backward, layer norm has g = γ dy and sums over the row. Batch norm has g = dy, and γ before the bracket:
//     dx = r (g - Σg/m - x̂ Σ(g x̂)/m),  dγ = Σ dy x̂,  dβ = Σ dy.
// μ and r are kept in fp32. Running averages of inference are not kept: C elements beside the batch.
//
// Constant input: x̂ = 0, r = 1/√ε. A NaN or infinity makes μ, r, y and dx of its channel or row NaN.
//
// Bytes: batch norm must read twice, since the statistics are needed before the first result. Forward reads x twice,
// backward x and dy. Layer norm's rows stay in cache, so forward reads once. Backward sums rows and columns, in a sweep
// each. Operations are counted as in models/workload/layer_work.cpp: 7 an element forward, 12 backward.
#include "kernels/code/norms.hpp"

#include <cmath>
#include <limits>

#include "kernels/cpu/typed.hpp"

namespace stepcast::kernels {
namespace {

// y: the mean is off by some 4 roundings of |x| <= 4 or so, and r, at most 316, multiplies that. The worst case is
// 4·4·2^-24·316 = 3e-4 of γ; usually r ≈ 1.
constexpr double kForwardTolerance = 3e-4;
// Sums of m numbers of either sign, by a tree with at most 64 in a row. The error is 64 roundings of √m. The largest
// channel's result is not often below √m/4.
constexpr double kSumTolerance = 256 * kFloatRounding;
// r from the variance, by parts whose means are combined: 64 roundings.
constexpr double kStatisticTolerance = 64 * kFloatRounding;
// dx: three terms that partly cancel, with 32 roundings of the remainder each.
constexpr double kGradientTolerance = 128 * kFloatRounding;

struct Statistics {
  double mean, inverse_std;
};

/// The statistic of x(0) to x(m-1).
template <class X>
Statistics statistics_of(std::int64_t m, const X& x) {
  const auto count = static_cast<double>(m);
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < m; ++i) sum += x(i);
  const double mean = sum / count;
  for (std::int64_t i = 0; i < m; ++i) squares += (x(i) - mean) * (x(i) - mean);
  const double inverse_std = 1 / std::sqrt(squares / count + static_cast<double>(kNormEpsilon));
  return {std::isnan(inverse_std) ? std::numeric_limits<double>::quiet_NaN() : mean, inverse_std};
}

/// The elements of channel c in order of image and pixel.
struct Channel {
  std::int64_t channels, area, channel;
  [[nodiscard]] std::int64_t operator()(std::int64_t i) const {
    return (i / area * channels + channel) * area + i % area;
  }
};

template <class Visit>
void for_channels(const Call& c, const Visit& visit) {
  const std::int64_t area = c.parameters[1] * c.parameters[2];
  for (std::int64_t channel = 0; channel < c.parameters[0]; ++channel)
    visit(channel, c.n * area, Channel{c.parameters[0], area, channel});
}

template <class T>
void store_statistics(const Call& c, int x, int first) {
  for_channels(c, [&](std::int64_t channel, std::int64_t m, const Channel& at) {
    const Statistics s = statistics_of(m, [&](std::int64_t i) { return real(c.at<T>(x), at(i)); });
    put(c.at<float>(first), channel, s.mean);
    put(c.at<float>(first + 1), channel, s.inverse_std);
  });
}

template <class T>
void batch_norm_forward(const Call& c) {
  store_statistics<T>(c, 0, 4);
  for_channels(c, [&](std::int64_t channel, std::int64_t m, const Channel& at) {
    const Statistics s = statistics_of(m, [&](std::int64_t i) { return real(c.at<T>(0), at(i)); });
    for (std::int64_t i = 0; i < m; ++i)
      put(c.at<T>(3), at(i),
          (real(c.at<T>(0), at(i)) - s.mean) * s.inverse_std * real(c.at<T>(1), channel) + real(c.at<T>(2), channel));
  });
}

template <class T>
void batch_norm_data_gradient(const Call& c) {
  const T *dy = c.at<T>(0), *x = c.at<T>(1);
  for_channels(c, [&](std::int64_t channel, std::int64_t m, const Channel& at) {
    const double mean = real(c.at<float>(3), channel), inverse_std = real(c.at<float>(4), channel);
    const auto normal = [&](std::int64_t i) { return (real(x, at(i)) - mean) * inverse_std; };
    double sum = 0, products = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      sum += real(dy, at(i));
      products += real(dy, at(i)) * normal(i);
    }
    const auto count = static_cast<double>(m);
    for (std::int64_t i = 0; i < m; ++i)
      put(c.at<T>(5), at(i),
          real(c.at<T>(2), channel) * inverse_std * (real(dy, at(i)) - sum / count - normal(i) * (products / count)));
    put(c.at<T>(6), channel, products);
    put(c.at<T>(7), channel, sum);
  });
}

/// Row r of x, `width` wide.
template <class T>
Statistics row_statistics(const Call& c, int x, std::int64_t r) {
  const T* row = c.at<T>(x) + r * c.parameters[0];
  return statistics_of(c.parameters[0], [=](std::int64_t i) { return real(row, i); });
}

template <class T>
void store_row_statistics(const Call& c, int x, int first) {
  for (std::int64_t r = 0; r < c.n * c.parameters[1]; ++r) {
    const Statistics s = row_statistics<T>(c, x, r);
    put(c.at<float>(first), r, s.mean);
    put(c.at<float>(first + 1), r, s.inverse_std);
  }
}

template <class T>
void layer_norm_forward(const Call& c) {
  const std::int64_t width = c.parameters[0];
  store_row_statistics<T>(c, 0, 4);
  for (std::int64_t r = 0; r < c.n * c.parameters[1]; ++r) {
    const Statistics s = row_statistics<T>(c, 0, r);
    for (std::int64_t i = 0; i < width; ++i)
      put(c.at<T>(3), r * width + i,
          (real(c.at<T>(0), r * width + i) - s.mean) * s.inverse_std * real(c.at<T>(1), i) + real(c.at<T>(2), i));
  }
}

template <class T>
void layer_norm_data_gradient(const Call& c) {
  const std::int64_t width = c.parameters[0];
  const auto count = static_cast<double>(width);
  std::vector<double> scale_gradient(width), bias_gradient(width);
  for (std::int64_t r = 0; r < c.n * c.parameters[1]; ++r) {
    const T *dy = c.at<T>(0) + r * width, *x = c.at<T>(1) + r * width;
    const double mean = real(c.at<float>(3), r), inverse_std = real(c.at<float>(4), r);
    const auto normal = [&](std::int64_t i) { return (real(x, i) - mean) * inverse_std; };
    const auto scaled = [&](std::int64_t i) { return real(dy, i) * real(c.at<T>(2), i); };
    double sum = 0, products = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      sum += scaled(i);
      products += scaled(i) * normal(i);
      scale_gradient[i] += real(dy, i) * normal(i);
      bias_gradient[i] += real(dy, i);
    }
    for (std::int64_t i = 0; i < width; ++i)
      put(c.at<T>(5), r * width + i, inverse_std * (scaled(i) - sum / count - normal(i) * (products / count)));
  }
  for (std::int64_t i = 0; i < width; ++i) {
    put(c.at<T>(6), i, scale_gradient[i]);
    put(c.at<T>(7), i, bias_gradient[i]);
  }
}

/// The two norms' buffers are alike. A sample has `elements` elements. There are `parameters` scales for all samples;
/// a batch has `statistics` means.
template <class T, class Statistic>
LayerKernels norm(const std::string& name, std::vector<std::int64_t> shape, std::int64_t elements,
                  std::int64_t parameters, Statistic statistics, double forward_tensors, void (*forward)(const Call&),
                  void (*backward)(const Call&), void (*prepare)(const Call&)) {
  const auto bytes = [=](double tensors, double vectors) {
    return [=](std::int64_t n) {
      return static_cast<double>(sizeof(T)) *
                 (tensors * static_cast<double>(n * elements) + vectors * static_cast<double>(parameters)) +
             8.0 * static_cast<double>(statistics(n));
    };
  };
  const auto flops = [=](double operations) {
    return [=](std::int64_t n) { return operations * static_cast<double>(n * elements); };
  };
  LayerKernels layer;
  layer.forward = Kernel{name + "-forward",
                         kMethod<T>,
                         shape,
                         [=](std::int64_t n) {
                           return std::vector<Buffer>{
                               as(Role::input, input<T>("x", n * elements)),
                               as(Role::weight, input<T>("scale", parameters)),
                               as(Role::weight, input<T>("bias", parameters)),
                               as(Role::output, result<T>("y", n * elements, kForwardTolerance)),
                               as(Role::kept, result<float>("mean", statistics(n), kSumTolerance)),
                               as(Role::kept, result<float>("inverse_std", statistics(n), 0, kStatisticTolerance))};
                         },
                         bytes(forward_tensors, 2),
                         flops(7),
                         forward};
  layer.data_gradient =
      Kernel{name + "-data_gradient",
             kMethod<T>,
             shape,
             [=](std::int64_t n) {
               return std::vector<Buffer>{as(Role::output_gradient, input<T>("dy", n * elements)),
                                          as(Role::input, input<T>("x", n * elements)),
                                          as(Role::weight, input<T>("scale", parameters)),
                                          as(Role::kept, {"mean", Element::f32, statistics(n), Fill::prepared}),
                                          as(Role::kept, {"inverse_std", Element::f32, statistics(n), Fill::prepared}),
                                          as(Role::input_gradient, result<T>("dx", n * elements, kGradientTolerance)),
                                          as(Role::weight_gradient, result<T>("dscale", parameters, kSumTolerance)),
                                          as(Role::weight_gradient, result<T>("dbias", parameters, kSumTolerance))};
             },
             bytes(5, 3),
             flops(12),
             backward,
             prepare};
  return layer;
}

}  // namespace

LayerKernels batch_norm_layer(const BatchNormShape& shape, Precision precision) {
  return of_precision(precision, [&]<class T>() {
    return norm<T>(
        "batch_norm", {shape.channels, shape.height, shape.width}, shape.channels * shape.height * shape.width,
        shape.channels, [channels = shape.channels](std::int64_t) { return channels; }, 3, batch_norm_forward<T>,
        batch_norm_data_gradient<T>, [](const Call& c) { store_statistics<T>(c, 1, 3); });
  });
}

LayerKernels layer_norm_layer(const LayerNormShape& shape, Precision precision) {
  return of_precision(precision, [&]<class T>() {
    return norm<T>(
        "layer_norm", {shape.width, shape.rows}, shape.width * shape.rows, shape.width,
        [rows = shape.rows](std::int64_t n) { return n * rows; }, 2, layer_norm_forward<T>, layer_norm_data_gradient<T>,
        [](const Call& c) { store_row_statistics<T>(c, 1, 3); });
  });
}

}  // namespace stepcast::kernels
