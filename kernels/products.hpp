// The layers that are matrix products: their shapes as a kernel's parameters and back, and the order of its buffers.
// Descriptors and CUDA launches both read it here. C++17.
//
// A buffer that a layer lacks (no bias, not factorized) has no elements but keeps its place.
#pragma once

#include <vector>

#include "kernels/layers.hpp"

namespace stepcast::kernels {

// Shapes ---------------------------------------------------------------------------------------------------------

inline std::vector<std::int64_t> parameters_of(const LinearShape& x) {
  return {x.in, x.out, x.rows, x.rank, x.bias ? 1 : 0};
}
inline LinearShape linear_shape(const std::int64_t* p) { return {p[0], p[1], p[2], p[3], p[4] != 0}; }

inline std::vector<std::int64_t> parameters_of(const Conv2dShape& x) {
  return {x.in,     x.out,    x.kernel_height, x.kernel_width, x.stride,      x.padding_height, x.padding_width,
          x.groups, x.height, x.width,         x.rank,         x.bias ? 1 : 0};
}
inline Conv2dShape conv2d_shape(const std::int64_t* p) {
  return {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11] != 0};
}

inline std::vector<std::int64_t> parameters_of(const ConvTranspose2dShape& x) {
  return {x.in, x.out, x.kernel_height, x.kernel_width, x.stride, x.height, x.width, x.bias ? 1 : 0};
}
inline ConvTranspose2dShape conv_transpose2d_shape(const std::int64_t* p) {
  return {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] != 0};
}

inline std::vector<std::int64_t> parameters_of(const LstmShape& x) {
  return {x.input, x.hidden, x.steps, x.input_rank, x.hidden_rank};
}
inline LstmShape lstm_shape(const std::int64_t* p) { return {p[0], p[1], p[2], p[3], p[4]}; }

inline std::vector<std::int64_t> parameters_of(const AttentionShape& x) { return {x.heads, x.d, x.sequence, x.memory}; }
inline AttentionShape attention_shape(const std::int64_t* p) { return {p[0], p[1], p[2], p[3]}; }

// Convolutions ---------------------------------------------------------------------------------------------------

inline std::int64_t output_height(const Conv2dShape& x) {
  return (x.height + 2 * x.padding_height - x.kernel_height) / x.stride + 1;
}
inline std::int64_t output_width(const Conv2dShape& x) {
  return (x.width + 2 * x.padding_width - x.kernel_width) / x.stride + 1;
}
/// Elements of one image.
inline std::int64_t input_elements(const Conv2dShape& x) { return x.in * x.height * x.width; }
inline std::int64_t output_pixels(const Conv2dShape& x) { return output_height(x) * output_width(x); }
inline std::int64_t output_elements(const Conv2dShape& x) { return x.out * output_pixels(x); }
/// The number of products in one output element: the rows of one group's columns.
inline std::int64_t taps(const Conv2dShape& x) { return x.in / x.groups * x.kernel_height * x.kernel_width; }
inline std::int64_t weight_elements(const Conv2dShape& x) { return x.out * taps(x); }
/// Whether the input is its own columns.
inline bool is_pointwise(const Conv2dShape& x) {
  return x.kernel_height == 1 && x.kernel_width == 1 && x.stride == 1 && x.padding_height == 0 && x.padding_width == 0;
}

/// The convolutions that a layer is made of: kernel to `rank` channels and 1 x 1 to `out`, or the whole one.
inline Conv2dShape first_convolution(Conv2dShape x) {
  if (x.rank > 0) x.out = x.rank;
  x.rank = 0;
  x.bias = false;
  return x;
}
inline Conv2dShape second_convolution(const Conv2dShape& x) {
  return {x.rank, x.out, 1, 1, 1, 0, 0, 1, output_height(x), output_width(x)};
}

/// The convolution whose data gradient is this layer. Its padding gives this layer an output of stride·input: (k - s)/2
/// on each side where the kernel is larger than the stride, else none.
/// @pre kernels as large as the stride or smaller, or an even number larger: else no padding gives that output
inline Conv2dShape adjoint_of(const ConvTranspose2dShape& x) {
  const auto padding = [&](std::int64_t kernel) {
    return kernel > x.stride ? (kernel - x.stride + (x.stride > 1 ? 1 : 0)) / 2 : 0;
  };
  return {x.out,
          x.in,
          x.kernel_height,
          x.kernel_width,
          x.stride,
          padding(x.kernel_height),
          padding(x.kernel_width),
          1,
          x.height * x.stride,
          x.width * x.stride};
}

// Buffers --------------------------------------------------------------------------------------------------------

/// Linear layers and convolutions. `u` is U, or the whole weight where there is no V. `t` is the result of U and the
/// operand of V.
struct ProductForward {
  enum { x, u, v, bias, t, y };
};
struct ProductDataGradient {
  enum { dy, u, v, dt, dx };
};
struct ProductWeightGradient {
  enum { x, t, dt, dy, du, dv, db };
};

/// LSTM: T steps of n samples, time-major. `hidden` and `cells` begin with the initial state and so have T + 1 steps.
/// The weights of the four gates i, f, g, o stand one below the other. `u_x` is 4h x input; with a `v_x` of 4 x h x r,
/// it is 4r x input. `u_h` and `v_h` are alike. `gates` holds the gates' activations. `t_x` and `t_h` are results of U
/// and operands of V.
struct LstmForward {
  enum { x, u_x, v_x, u_h, v_h, bias, hidden, cells, t_x, t_h, gates };
};
/// dgates is the gradient of the gates before their activation; dh and dc are those of the initial state.
struct LstmDataGradient {
  enum { dy, gates, cells, u_x, v_x, u_h, v_h, dgates, dt_x, dt_h, dx, dh, dc };
};
struct LstmWeightGradient {
  enum { x, hidden, t_x, t_h, dgates, dt_x, dt_h, du_x, dv_x, du_h, dv_h, db };
};

/// Attention: q, k, v, y are (n·positions) x d, head j in columns j·d/heads and on; probabilities n x heads x sequence
/// x memory.
struct AttentionForward {
  enum { q, k, v, probabilities, y };
};
struct AttentionDataGradient {
  enum { q, k, v, probabilities, dy, dq, dk, dv };
};

}  // namespace stepcast::kernels
