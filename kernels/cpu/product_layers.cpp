// The layers that are matrix products, on small shapes: odd sizes, each option once. Results have enough elements
// that the largest is not small by chance.
#include "kernels/cpu/lists.hpp"

namespace stepcast::kernels {
namespace {

struct Size {
  std::int64_t height, width;
};

Conv2dShape conv2d(std::int64_t in, std::int64_t out, Size kernel, std::int64_t stride, Size padding,
                   std::int64_t groups, Size image, std::int64_t rank = 0, bool bias = false) {
  return {in,     out,          kernel.height, kernel.width, stride, padding.height, padding.width,
          groups, image.height, image.width,   rank,         bias};
}

std::vector<Conv2dShape> conv2d_shapes() {
  return {conv2d(5, 7, {3, 3}, 1, {1, 1}, 1, {9, 11}, 0, true), conv2d(4, 6, {3, 5}, 2, {0, 2}, 2, {13, 8}),
          conv2d(6, 6, {3, 3}, 1, {1, 1}, 6, {7, 7}, 0, true),  conv2d(17, 9, {1, 1}, 1, {0, 0}, 1, {7, 5}),
          conv2d(8, 16, {1, 1}, 2, {0, 0}, 1, {8, 8}),          conv2d(6, 10, {3, 3}, 2, {1, 1}, 1, {12, 9}, 4, true),
          conv2d(3, 5, {4, 6}, 1, {0, 0}, 1, {4, 6}, 3)};
}

}  // namespace

void add_product_layers(std::vector<Kernel>& list) {
  for (const Precision precision : kPrecisions) {
    add_layer(list, linear_layer({.in = 33, .out = 17, .rows = 1, .bias = true}, precision));
    add_layer(list, linear_layer({.in = 16, .out = 24, .rows = 5}, precision));
    add_layer(list, linear_layer({.in = 31, .out = 29, .rows = 3, .rank = 7, .bias = true}, precision));
    add_layer(list, linear_layer({.in = 64, .out = 48, .rows = 1, .rank = 16}, precision));
    for (const Conv2dShape& shape : conv2d_shapes()) add_layer(list, conv2d_layer(shape, precision));
    // in, out, kernel, stride, image
    add_layer(list, conv_transpose2d_layer({5, 3, 2, 2, 2, 5, 7, true}, precision));
    add_layer(list, conv_transpose2d_layer({4, 6, 3, 4, 2, 4, 3}, precision));
    add_layer(list, lstm_layer({.input = 11, .hidden = 13, .steps = 4}, precision));
    add_layer(list, lstm_layer({.input = 12, .hidden = 9, .steps = 3, .input_rank = 5, .hidden_rank = 3}, precision));
    add_layer(list, lstm_layer({.input = 8, .hidden = 16, .steps = 2, .hidden_rank = 4}, precision));
    add_layer(list, attention_layer({.heads = 3, .d = 21, .sequence = 9, .memory = 9}, precision));
    add_layer(list, attention_layer({.heads = 2, .d = 16, .sequence = 5, .memory = 37}, precision));
  }
}

std::vector<Conv2dShape> timed_convolutions() {
  return {square_conv2d(128, 128, 3, 1, 28, 32), square_conv2d(256, 256, 3, 1, 14, 64),
          square_conv2d(512, 512, 3, 1, 7, 128)};
}

std::vector<Kernel> convolution_kernels(ConvolutionPath path) {
  std::vector<Kernel> list;
  for (const Precision precision : kPrecisions)
    for (const Conv2dShape& shape : conv2d_shapes()) add_layer(list, conv2d_layer(shape, precision, path));
  return list;
}

}  // namespace stepcast::kernels
