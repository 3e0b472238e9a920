// The parts of a convolution layer by columns or by cuDNN: bias, and both products where it is factorized. They follow
// one another on the stream, so they share the scratch.
#pragma once

#include "kernels/cuda/bias.cuh"
#include "kernels/products.hpp"

namespace stepcast::kernels {

template <template <Precision> class Convolution, Precision kPrecision>
struct Conv2dLayer {
  using T = Stored<kPrecision>;
  using C = Convolution<kPrecision>;

  static void forward(const DeviceCall& c) {
    using B = ProductForward;
    const Conv2dShape s = conv2d_shape(c.parameters), first = first_convolution(s);
    if (s.bias) write_bias(c, c.at<T>(B::bias), c.at<T>(B::y), c.n, s.out, output_pixels(s));
    if (s.rank == 0) return C::forward(c, first, c.buffers[B::x], c.buffers[B::u], c.buffers[B::y], s.bias);
    C::forward(c, first, c.buffers[B::x], c.buffers[B::u], c.buffers[B::t], false);
    C::forward(c, second_convolution(s), c.buffers[B::t], c.buffers[B::v], c.buffers[B::y], s.bias);
  }

  static void data_gradient(const DeviceCall& c) {
    using B = ProductDataGradient;
    const Conv2dShape s = conv2d_shape(c.parameters), first = first_convolution(s);
    if (s.rank == 0) return C::data_gradient(c, first, c.buffers[B::dy], c.buffers[B::u], c.buffers[B::dx], false);
    C::data_gradient(c, second_convolution(s), c.buffers[B::dy], c.buffers[B::v], c.buffers[B::dt], false);
    C::data_gradient(c, first, c.buffers[B::dt], c.buffers[B::u], c.buffers[B::dx], false);
  }

  static void weight_gradient(const DeviceCall& c) {
    using B = ProductWeightGradient;
    const Conv2dShape s = conv2d_shape(c.parameters), first = first_convolution(s);
    if (s.rank == 0) {
      C::weight_gradient(c, first, c.buffers[B::x], c.buffers[B::dy], c.buffers[B::du]);
    } else {
      C::weight_gradient(c, first, c.buffers[B::x], c.buffers[B::dt], c.buffers[B::du]);
      C::weight_gradient(c, second_convolution(s), c.buffers[B::t], c.buffers[B::dy], c.buffers[B::dv]);
    }
    if (s.bias) sum_channels(c, c.at<T>(B::dy), c.n, s.out, output_pixels(s), c.at<T>(B::db), c.scratch);
  }

  static std::size_t forward_scratch(const DeviceCall& c) { return larger(c, C::forward_scratch); }
  static std::size_t data_scratch(const DeviceCall& c) { return larger(c, C::data_scratch); }
  static std::size_t weight_scratch(const DeviceCall& c) {
    const Conv2dShape s = conv2d_shape(c.parameters);
    return std::max(larger(c, C::weight_scratch), s.bias ? channel_sum_scratch(c.n, s.out, output_pixels(s)) : 0);
  }

  static void add(std::vector<Launch>& list, const std::string& method) {
    list.push_back({"conv2d-forward/" + method, forward, forward_scratch});
    list.push_back({"conv2d-data-gradient/" + method, data_gradient, data_scratch});
    list.push_back({"conv2d-weight-gradient/" + method, weight_gradient, weight_scratch});
  }

 private:
  /// Scratch of the first convolution and of the second.
  template <class Scratch>
  static std::size_t larger(const DeviceCall& c, const Scratch& scratch) {
    const Conv2dShape s = conv2d_shape(c.parameters);
    const std::size_t first = scratch(c, first_convolution(s));
    return s.rank == 0 ? first : std::max(first, scratch(c, second_convolution(s)));
  }
};

}  // namespace stepcast::kernels
