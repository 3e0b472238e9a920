// Softmax and cross-entropy against a label for each of R = batch·rows rows of K classes:
//     s = log Σ exp(x),  loss = s - x[label],  dx = (exp(x - s) - [label])/R
// The gradient of the mean loss is dx. The sum s and the losses are fp32; s is kept for the backward pass. Bytes:
// forward reads the logits once; backward moves the logits and dx; labels and fp32 numbers come besides. Operations are
// counted as in models/workload/layer_work.cpp: 6 an element forward, 3 backward.
//
// A NaN or +∞ makes its row's s, loss and dx NaN. -∞ is a class of probability 0; as the label, its loss is +∞. A row
// of -∞ alone has s = -∞, and its loss and dx are NaN.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/typed.hpp"

namespace stepcast::kernels {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// exp is within 2 units of the last place, x - s within 2^-24 of |x - s| < 16. Together 16 roundings of the largest:
// 1 for dx, and about log K for s and the losses. Sums of a tree add a few.
constexpr double kTolerance = 32 * kFloatRounding;

template <class T>
double log_sum_exp(const T* x, std::int64_t classes) {
  double most = -kInfinity, sum = 0;
  for (std::int64_t k = 0; k < classes; ++k)
    most = std::max(most, real(x, k));  // a NaN is not larger, but is in the sum
  for (std::int64_t k = 0; k < classes; ++k)
    if (real(x, k) != -kInfinity) sum += std::exp(real(x, k) - most);
  return most + std::log(sum);
}

/// logits, labels, losses, sums
template <class T>
void forward(const Call& c) {
  const std::int64_t classes = c.parameters[0];
  for (std::int64_t r = 0; r < c.n * c.parameters[1]; ++r) {
    const T* x = c.at<T>(0) + r * classes;
    const double sum = log_sum_exp(x, classes);
    put(c.at<float>(2), r, sum - real(x, c.at<std::uint32_t>(1)[r]));
    put(c.at<float>(3), r, sum);
  }
}

/// logits, labels, sums, dx
template <class T>
void data_gradient(const Call& c) {
  const std::int64_t classes = c.parameters[0], rows = c.n * c.parameters[1];
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < classes; ++k) {
      const double probability = std::exp(real(c.at<T>(0), r * classes + k) - real(c.at<float>(2), r));
      put(c.at<T>(3), r * classes + k,
          (probability - (k == c.at<std::uint32_t>(1)[r] ? 1 : 0)) / static_cast<double>(rows));
    }
}

}  // namespace

LayerKernels softmax_loss_layer(const SoftmaxLossShape& shape, Precision precision) {
  return of_precision(precision, [&]<class T>() {
    const std::int64_t classes = shape.classes, rows = shape.rows;
    const auto count = [=](double per_element, double per_row) {
      return [=](std::int64_t n) {
        return static_cast<double>(n * rows) * (per_element * static_cast<double>(classes) + per_row);
      };
    };
    LayerKernels layer;
    layer.forward =
        Kernel{"softmax_loss-forward",
               kMethod<T>,
               {classes, rows},
               [=](std::int64_t n) {
                 return std::vector<Buffer>{as(Role::input, input<T>("logits", n * rows * classes)),
                                            as(Role::kept, indices_below(classes, "labels", n * rows)),
                                            as(Role::output, result<float>("losses", n * rows, kTolerance)),
                                            as(Role::kept, result<float>("log_sum_exp", n * rows, kTolerance))};
               },
               count(sizeof(T), 12),
               count(6, 0),
               forward<T>};
    layer.data_gradient =
        Kernel{"softmax_loss-data_gradient",
               kMethod<T>,
               {classes, rows},
               [=](std::int64_t n) {
                 return std::vector<Buffer>{as(Role::input, input<T>("logits", n * rows * classes)),
                                            as(Role::kept, indices_below(classes, "labels", n * rows)),
                                            as(Role::kept, {"log_sum_exp", Element::f32, n * rows, Fill::prepared}),
                                            as(Role::input_gradient, result<T>("dx", n * rows * classes, kTolerance))};
               },
               count(2 * sizeof(T), 8),
               count(3, 0),
               data_gradient<T>,
               [=](const Call& c) {
                 for (std::int64_t r = 0; r < c.n * rows; ++r)
                   put(c.at<float>(2), r, log_sum_exp(c.at<T>(0) + r * classes, classes));
               }};
    return layer;
  });
}

}  // namespace stepcast::kernels
