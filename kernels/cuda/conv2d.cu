#include "kernels/cuda/conv2d.cuh"

#include "kernels/cuda/columns.hpp"

namespace stepcast::kernels {
namespace {

/// The transpose of a convolution is its data gradient.
template <Precision kPrecision>
struct Transposed {
  using T = Stored<kPrecision>;
  using C = ColumnsConvolution<kPrecision>;

  static void forward(const DeviceCall& c) {
    using B = ProductForward;
    const ConvTranspose2dShape s = conv_transpose2d_shape(c.parameters);
    const Conv2dShape adjoint = adjoint_of(s);
    if (s.bias) write_bias(c, c.at<T>(B::bias), c.at<T>(B::y), c.n, s.out, adjoint.height * adjoint.width);
    C::data_gradient(c, adjoint, c.buffers[B::x], c.buffers[B::u], c.buffers[B::y], s.bias);
  }
  static void data_gradient(const DeviceCall& c) {
    using B = ProductDataGradient;
    C::forward(c, adjoint_of(conv_transpose2d_shape(c.parameters)), c.buffers[B::dy], c.buffers[B::u], c.buffers[B::dx],
               false);
  }
  static void weight_gradient(const DeviceCall& c) {
    using B = ProductWeightGradient;
    const ConvTranspose2dShape s = conv_transpose2d_shape(c.parameters);
    const Conv2dShape adjoint = adjoint_of(s);
    C::weight_gradient(c, adjoint, c.buffers[B::dy], c.buffers[B::x], c.buffers[B::du]);
    if (s.bias) sum_channels(c, c.at<T>(B::dy), c.n, s.out, adjoint.height * adjoint.width, c.at<T>(B::db), c.scratch);
  }
  static std::size_t forward_scratch(const DeviceCall& c) {
    return C::data_scratch(c, adjoint_of(conv_transpose2d_shape(c.parameters)));
  }
  static std::size_t data_scratch(const DeviceCall& c) {
    return C::forward_scratch(c, adjoint_of(conv_transpose2d_shape(c.parameters)));
  }
  static std::size_t weight_scratch(const DeviceCall& c) {
    const ConvTranspose2dShape s = conv_transpose2d_shape(c.parameters);
    const Conv2dShape adjoint = adjoint_of(s);
    return std::max(C::weight_scratch(c, adjoint),
                    s.bias ? channel_sum_scratch(c.n, s.out, adjoint.height * adjoint.width) : 0);
  }
};

}  // namespace

void add_conv2d_launches(std::vector<Launch>& list) {
  for_each_precision([&](auto precision) {
    constexpr Precision kPrecision = decltype(precision)::value;
    const std::string method = name_of(kPrecision);
    Conv2dLayer<ColumnsConvolution, kPrecision>::add(list, method);
    using Layer = Transposed<kPrecision>;
    list.push_back({"conv-transpose2d-forward/" + method, Layer::forward, Layer::forward_scratch});
    list.push_back({"conv-transpose2d-data-gradient/" + method, Layer::data_gradient, Layer::data_scratch});
    list.push_back({"conv-transpose2d-weight-gradient/" + method, Layer::weight_gradient, Layer::weight_scratch});
  });
}

}  // namespace stepcast::kernels
