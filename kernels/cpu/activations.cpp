// Activations, sums, products and copies: one element in, one out (kernels/code/activations.hpp has the mathematics).
//
// Forward reads x and writes y; backward reads dy and y (gelu, silu: x; dropout: dy alone) and writes dx. A NaN or
// infinity concerns its own element only. Operations are counted as in models/workload/layer_work.cpp: one an element
// for relu and dropout, ten for the others.
#include "kernels/code/activations.hpp"

#include "kernels/cpu/typed.hpp"

namespace stepcast::kernels {
namespace {

// exp, erf and tanh of CUDA are within 2 units of the last place, 2^-22 of the value, and a few roundings follow. Where
// 1 + erf, 1 - y² or 1 - y cancel, the error is as small beside 1. Times dy or x, it is as small beside the largest.
constexpr double kFunctionTolerance = 0x1p-20;

/// @param elements  read and written, for each element of the layer
Kernel elementwise(const std::string& role, const char* method, std::int64_t elements,
                   std::vector<Buffer> (*buffers)(std::int64_t count), double tensors, std::size_t size,
                   double operations, void (*each)(const Call&, std::int64_t)) {
  const auto per_sample = static_cast<double>(elements);
  return {role,
          method,
          {elements},
          [=](std::int64_t n) { return buffers(n * elements); },
          [=](std::int64_t n) { return tensors * static_cast<double>(size) * per_sample * static_cast<double>(n); },
          [=](std::int64_t n) { return operations * per_sample * static_cast<double>(n); },
          [=](const Call& c) {
            for (std::int64_t i = 0; i < c.n * elements; ++i) each(c, i);
          }};
}

/// The buffer that the backward part reads besides dy: the input of gelu and silu, the others' output.
template <class T, class F>
Buffer saved(std::int64_t count) {
  return std::is_same_v<F, Gelu> || std::is_same_v<F, Silu> ? as(Role::input, input<T>("x", count))
                                                            : as(Role::output, input<T>("y", count));
}

template <class T, class F>
LayerKernels activation(const std::string& name, std::int64_t elements) {
  constexpr bool exact = std::is_same_v<F, Relu>;
  constexpr double tolerance = exact ? 0 : kFunctionTolerance;
  LayerKernels layer;
  layer.forward = elementwise(
      name + "-forward", kMethod<T>, elements,
      [](std::int64_t count) {
        return std::vector<Buffer>{as(Role::input, input<T>("x", count)),
                                   as(Role::output, result<T>("y", count, tolerance, tolerance))};
      },
      2, sizeof(T), exact ? 1 : 10,
      [](const Call& c, std::int64_t i) { put(c.at<T>(1), i, F::value(real(c.at<T>(0), i))); });
  layer.data_gradient = elementwise(
      name + "-data_gradient", kMethod<T>, elements,
      [](std::int64_t count) {
        return std::vector<Buffer>{as(Role::output_gradient, input<T>("dy", count)), saved<T, F>(count),
                                   as(Role::input_gradient, result<T>("dx", count, tolerance, tolerance))};
      },
      3, sizeof(T), exact ? 1 : 10,
      [](const Call& c, std::int64_t i) { put(c.at<T>(2), i, F::gradient(real(c.at<T>(0), i), real(c.at<T>(1), i))); });
  return layer;
}

/// The mask costs no memory: 2 tensors in either direction.
template <class T>
LayerKernels dropout_kernels(std::int64_t elements) {
  const auto make = [=](const char* role, std::vector<Buffer> (*buffers)(std::int64_t)) {
    return elementwise(role, kMethod<T>, elements, buffers, 2, sizeof(T), 1, [](const Call& c, std::int64_t i) {
      const RandomWords random = random_words(c.seed, static_cast<std::uint64_t>(i / 4));
      put(c.at<T>(1), i, dropout(real(c.at<T>(0), i), random.word[i % 4]));
    });
  };
  return {make("dropout-forward",
               [](std::int64_t count) {
                 return std::vector<Buffer>{as(Role::input, input<T>("x", count)),
                                            as(Role::output, result<T>("y", count, 0))};
               }),
          make("dropout-data_gradient",
               [](std::int64_t count) {
                 return std::vector<Buffer>{as(Role::output_gradient, input<T>("dy", count)),
                                            as(Role::input_gradient, result<T>("dx", count, 0))};
               }),
          {}};
}

}  // namespace

LayerKernels activation_layer(const ActivationShape& shape, Precision precision) {
  return of_precision(precision, [&]<class T>() {
    switch (shape.kind) {
      case ActivationKind::relu: return activation<T, Relu>("relu", shape.elements);
      case ActivationKind::gelu: return activation<T, Gelu>("gelu", shape.elements);
      case ActivationKind::tanh: return activation<T, Tanh>("tanh", shape.elements);
      case ActivationKind::sigmoid: return activation<T, Sigmoid>("sigmoid", shape.elements);
      case ActivationKind::silu: return activation<T, Silu>("silu", shape.elements);
      case ActivationKind::dropout: break;
    }
    return dropout_kernels<T>(shape.elements);
  });
}

/// Backward: a sum passes its gradient on unchanged. Where its two branches began, their gradients are summed.
LayerKernels add_layer(const ElementwiseShape& shape, Precision precision) {
  return of_precision(precision, [&]<class T>() {
    const auto make = [&](const char* role, std::vector<Buffer> (*buffers)(std::int64_t)) {
      return elementwise(role, kMethod<T>, shape.elements, buffers, 3, sizeof(T), 1, [](const Call& c, std::int64_t i) {
        put(c.at<T>(2), i, real(c.at<T>(0), i) + real(c.at<T>(1), i));
      });
    };
    return LayerKernels{make("add-forward",
                             [](std::int64_t count) {
                               return std::vector<Buffer>{as(Role::input, input<T>("a", count)),
                                                          as(Role::input, input<T>("b", count)),
                                                          as(Role::output, result<T>("sum", count, 0))};
                             }),
                        make("add-data_gradient",
                             [](std::int64_t count) {
                               return std::vector<Buffer>{as(Role::output_gradient, input<T>("a", count)),
                                                          as(Role::kept, input<T>("b", count)),
                                                          as(Role::input_gradient, result<T>("sum", count, 0))};
                             }),
                        {}};
  });
}

/// Backward: da = dy·b and db = dy·a in one sweep.
LayerKernels multiply_layer(const ElementwiseShape& shape, Precision precision) {
  return of_precision(precision, [&]<class T>() {
    LayerKernels layer;
    layer.forward = elementwise(
        "multiply-forward", kMethod<T>, shape.elements,
        [](std::int64_t count) {
          return std::vector<Buffer>{as(Role::input, input<T>("a", count)), as(Role::input, input<T>("b", count)),
                                     as(Role::output, result<T>("product", count, 0))};
        },
        3, sizeof(T), 1,
        [](const Call& c, std::int64_t i) { put(c.at<T>(2), i, real(c.at<T>(0), i) * real(c.at<T>(1), i)); });
    layer.data_gradient = elementwise(
        "multiply-data_gradient", kMethod<T>, shape.elements,
        [](std::int64_t count) {
          return std::vector<Buffer>{as(Role::output_gradient, input<T>("dy", count)),
                                     as(Role::input, input<T>("a", count)), as(Role::input, input<T>("b", count)),
                                     as(Role::input_gradient, result<T>("da", count, 0)),
                                     as(Role::input_gradient, result<T>("db", count, 0))};
        },
        5, sizeof(T), 2,
        [](const Call& c, std::int64_t i) {
          const double dy = real(c.at<T>(0), i);
          put(c.at<T>(3), i, dy * real(c.at<T>(2), i));
          put(c.at<T>(4), i, dy * real(c.at<T>(1), i));
        });
    return layer;
  });
}

LayerKernels concat_layer(const ElementwiseShape& shape, Precision precision) {
  return of_precision(precision, [&]<class T>() {
    const auto make = [&](const char* role, std::vector<Buffer> (*buffers)(std::int64_t)) {
      return elementwise(role, kMethod<T>, shape.elements, buffers, 2, sizeof(T), 0,
                         [](const Call& c, std::int64_t i) { c.at<T>(1)[i] = c.at<T>(0)[i]; });
    };
    return LayerKernels{make("concat-forward",
                             [](std::int64_t count) {
                               return std::vector<Buffer>{as(Role::input, input<T>("from", count)),
                                                          as(Role::output, result<T>("to", count, 0))};
                             }),
                        make("concat-data_gradient",
                             [](std::int64_t count) {
                               return std::vector<Buffer>{as(Role::output_gradient, input<T>("from", count)),
                                                          as(Role::input_gradient, result<T>("to", count, 0))};
                             }),
                        {}};
  });
}

}  // namespace stepcast::kernels
