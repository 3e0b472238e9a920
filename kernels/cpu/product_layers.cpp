// The layers that are matrix products, on small shapes: odd sizes, each option once. Results have enough elements
// that the largest is not small by chance.
#include "kernels/cpu/lists.hpp"
#include "kernels/layers.hpp"

namespace stepcast::kernels {
namespace {

void add(std::vector<Kernel>& list, LayerKernels layer) {
  for (std::optional<Kernel>* part : {&layer.forward, &layer.data_gradient, &layer.weight_gradient})
    if (*part) list.push_back(std::move(**part));
}

std::vector<Conv2dShape> conv2d_shapes() {
  return {
      {.in = 5,
       .out = 7,
       .kernel_height = 3,
       .kernel_width = 3,
       .stride = 1,
       .padding_height = 1,
       .padding_width = 1,
       .groups = 1,
       .height = 9,
       .width = 11,
       .bias = true},
      {.in = 4,
       .out = 6,
       .kernel_height = 3,
       .kernel_width = 5,
       .stride = 2,
       .padding_height = 0,
       .padding_width = 2,
       .groups = 2,
       .height = 13,
       .width = 8},
      {.in = 6,
       .out = 6,
       .kernel_height = 3,
       .kernel_width = 3,
       .stride = 1,
       .padding_height = 1,
       .padding_width = 1,
       .groups = 6,
       .height = 7,
       .width = 7,
       .bias = true},
      {.in = 17,
       .out = 9,
       .kernel_height = 1,
       .kernel_width = 1,
       .stride = 1,
       .padding_height = 0,
       .padding_width = 0,
       .groups = 1,
       .height = 7,
       .width = 5},
      {.in = 8,
       .out = 16,
       .kernel_height = 1,
       .kernel_width = 1,
       .stride = 2,
       .padding_height = 0,
       .padding_width = 0,
       .groups = 1,
       .height = 8,
       .width = 8},
      {.in = 6,
       .out = 10,
       .kernel_height = 3,
       .kernel_width = 3,
       .stride = 2,
       .padding_height = 1,
       .padding_width = 1,
       .groups = 1,
       .height = 12,
       .width = 9,
       .rank = 4,
       .bias = true},
      {.in = 3,
       .out = 5,
       .kernel_height = 4,
       .kernel_width = 6,
       .stride = 1,
       .padding_height = 0,
       .padding_width = 0,
       .groups = 1,
       .height = 4,
       .width = 6,
       .rank = 3},
  };
}

}  // namespace

void add_product_layers(std::vector<Kernel>& list) {
  for (const Precision precision : kPrecisions) {
    add(list, linear_layer({.in = 33, .out = 17, .rows = 1, .bias = true}, precision));
    add(list, linear_layer({.in = 16, .out = 24, .rows = 5}, precision));
    add(list, linear_layer({.in = 31, .out = 29, .rows = 3, .rank = 7, .bias = true}, precision));
    add(list, linear_layer({.in = 64, .out = 48, .rows = 1, .rank = 16}, precision));
    for (const Conv2dShape& shape : conv2d_shapes()) add(list, conv2d_layer(shape, precision));
    add(list, conv_transpose2d_layer({.in = 5,
                                      .out = 3,
                                      .kernel_height = 2,
                                      .kernel_width = 2,
                                      .stride = 2,
                                      .height = 5,
                                      .width = 7,
                                      .bias = true},
                                     precision));
    add(list, conv_transpose2d_layer(
                  {.in = 4, .out = 6, .kernel_height = 3, .kernel_width = 4, .stride = 2, .height = 4, .width = 3},
                  precision));
    add(list, lstm_layer({.input = 11, .hidden = 13, .steps = 4}, precision));
    add(list, lstm_layer({.input = 12, .hidden = 9, .steps = 3, .input_rank = 5, .hidden_rank = 3}, precision));
    add(list, lstm_layer({.input = 8, .hidden = 16, .steps = 2, .hidden_rank = 4}, precision));
    add(list, attention_layer({.heads = 3, .d = 21, .sequence = 9, .memory = 9}, precision));
    add(list, attention_layer({.heads = 2, .d = 16, .sequence = 5, .memory = 37}, precision));
  }
}

std::vector<Conv2dShape> timed_convolutions() {
  return {square_conv2d(128, 128, 3, 1, 28, 32), square_conv2d(256, 256, 3, 1, 14, 64),
          square_conv2d(512, 512, 3, 1, 7, 128)};
}

std::vector<Kernel> convolution_kernels(ConvolutionPath path) {
  std::vector<Kernel> list;
  for (const Precision precision : kPrecisions)
    for (const Conv2dShape& shape : conv2d_shapes()) add(list, conv2d_layer(shape, precision, path));
  return list;
}

}  // namespace stepcast::kernels
