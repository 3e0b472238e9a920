// Rows of a table by index: y[r] = table[index[r]]. Backward fills the table's dense gradient with zeros and adds each
// dy[r] to its row, in fp32. A NaN or infinity concerns its own column of its row. The GPU's atomics take numbers below
// 2^-126, the least normal one, as 0 (PTX ISA, atom.add.f32 on global memory).
//
// Bytes are counted as in models/workload/layer_work.cpp. Forward moves the rows and y. Backward writes the gradient's
// zeros once, reads each dy, and reads and writes its sum. Both read the indices. Operations: one for each addition.
#include "kernels/cpu/typed.hpp"

namespace stepcast::kernels {
namespace {

/// table, indices, y
template <class T>
void forward(const Call& c) {
  const std::int64_t width = c.parameters[1];
  for (std::int64_t r = 0; r < c.n * c.parameters[2]; ++r)
    for (std::int64_t i = 0; i < width; ++i)
      c.at<T>(2)[r * width + i] = c.at<T>(0)[c.at<std::uint32_t>(1)[r] * width + i];
}

/// dy, indices, the table's gradient
template <class T>
void weight_gradient(const Call& c) {
  const std::int64_t entries = c.parameters[0], width = c.parameters[1];
  std::vector<double> sums(entries * width);
  for (std::int64_t r = 0; r < c.n * c.parameters[2]; ++r)
    for (std::int64_t i = 0; i < width; ++i)
      sums[c.at<std::uint32_t>(1)[r] * width + i] += real(c.at<T>(0), r * width + i);
  for (std::int64_t i = 0; i < entries * width; ++i) put(c.at<T>(2), i, sums[i]);
}

}  // namespace

LayerKernels embedding_layer(const EmbeddingShape& shape, Precision precision) {
  return of_precision(precision, [&]<class T>() {
    const std::int64_t entries = shape.entries, width = shape.width, rows = shape.rows;
    const auto bytes = [=](double per_element, double fixed) {
      return [=](std::int64_t n) {
        return static_cast<double>(sizeof(T)) * (per_element * static_cast<double>(n * rows * width) + fixed) +
               4.0 * static_cast<double>(n * rows);
      };
    };
    LayerKernels layer;
    layer.forward = Kernel{"embedding-forward",
                           kMethod<T>,
                           {entries, width, rows},
                           [=](std::int64_t n) {
                             return std::vector<Buffer>{as(Role::weight, input<T>("table", entries * width)),
                                                        as(Role::kept, indices_below(entries, "indices", n * rows)),
                                                        as(Role::output, result<T>("y", n * rows * width, 0))};
                           },
                           bytes(2, 0),
                           [](std::int64_t) { return 0.0; },
                           forward<T>};
    layer.weight_gradient =
        Kernel{"embedding-weight_gradient",
               kMethod<T>,
               {entries, width, rows},
               [=](std::int64_t n) {
                 // Up to n·rows numbers are added in any order. Each partial sum is rounded, and is no larger than a
                 // few of the largest. Each addition may lose a denormal.
                 const auto additions = static_cast<double>(n * rows);
                 Buffer gradient = result<T>("gradient", entries * width, 4 * additions * kFloatRounding);
                 gradient.absolute_tolerance = 2 * additions * 0x1p-126;
                 return std::vector<Buffer>{as(Role::output_gradient, input<T>("dy", n * rows * width)),
                                            as(Role::kept, indices_below(entries, "indices", n * rows)),
                                            as(Role::weight_gradient, gradient)};
               },
               bytes(3, static_cast<double>(entries * width)),
               [=](std::int64_t n) { return static_cast<double>(n * rows * width); },
               weight_gradient<T>};
    return layer;
  });
}

}  // namespace stepcast::kernels
