// Convolution of images x[n][in][h][w] with weights w[out][in/groups][kh][kw], and its transpose.
//
//   y[o][p][q] = b[o] + Σ w[o][c][i][j] · x[c][s·p + i - padding][s·q + j - padding], zero outside the image
//
// over the channels c of o's group. A factorized layer first makes r channels t by kh x kw, then `out` channels by
// 1 x 1. It keeps t and its gradient dt, since the weight gradient takes them as inputs. With P output pixels of an
// image, each of the three parts takes 2·in/groups·out·kh·kw·P operations. A factorized part takes those of both
// convolutions. A bias adds one operation for each output.
//
// The transpose gives stride·height x stride·width pixels. It is the data gradient of adjoint_of(shape), and its own
// data gradient is that convolution. Its weight gradient is that of the convolution with x and dy exchanged.
#include <algorithm>
#include <stdexcept>

#include "kernels/cpu/reference.hpp"

namespace stepcast::kernels {
namespace {

/// Calls f(weight, x, y, count) with indices, for each run of output pixels q to q + count of a row under one weight.
/// Pixel x + stride·k meets output y + k.
template <class F>
void for_each_run(const Conv2dShape& s, std::int64_t images, F f) {
  const std::int64_t rows = output_height(s), columns = output_width(s), in = s.in / s.groups, out = s.out / s.groups;
  for (std::int64_t n = 0; n < images; ++n)
    for (std::int64_t o = 0; o < s.out; ++o)
      for (std::int64_t c = 0; c < in; ++c)
        for (std::int64_t i = 0; i < s.kernel_height; ++i)
          for (std::int64_t j = 0; j < s.kernel_width; ++j) {
            // 0 <= s·q + j - padding < width
            const std::int64_t first = std::max<std::int64_t>(0, ceil_div(s.padding_width - j, s.stride)),
                               last = std::min(columns, ceil_div(s.width + s.padding_width - j, s.stride));
            for (std::int64_t p = 0; p < rows; ++p) {
              const std::int64_t row = s.stride * p + i - s.padding_height;
              if (row < 0 || row >= s.height || last <= first) continue;
              const std::int64_t channel = o / out * in + c;
              f(((o * in + c) * s.kernel_height + i) * s.kernel_width + j,
                ((n * s.in + channel) * s.height + row) * s.width + s.stride * first + j - s.padding_width,
                ((n * s.out + o) * rows + p) * columns + first, last - first);
            }
          }
}

Numbers convolve(const Conv2dShape& s, std::int64_t images, const Numbers& x, const Numbers& w) {
  Numbers y(images * output_elements(s));
  for_each_run(s, images, [&](std::int64_t wi, std::int64_t xi, std::int64_t yi, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) y[yi + k] += w[wi] * x[xi + s.stride * k];
  });
  return y;
}

Numbers input_gradient(const Conv2dShape& s, std::int64_t images, const Numbers& dy, const Numbers& w) {
  Numbers dx(images * input_elements(s));
  for_each_run(s, images, [&](std::int64_t wi, std::int64_t xi, std::int64_t yi, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) dx[xi + s.stride * k] += w[wi] * dy[yi + k];
  });
  return dx;
}

Numbers kernel_gradient(const Conv2dShape& s, std::int64_t images, const Numbers& x, const Numbers& dy) {
  Numbers dw(weight_elements(s));
  for_each_run(s, images, [&](std::int64_t wi, std::int64_t xi, std::int64_t yi, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) dw[wi] += x[xi + s.stride * k] * dy[yi + k];
  });
  return dw;
}

/// y[n][channel][pixel] += bias[channel]
void add_bias(Numbers& y, const Numbers& bias, std::int64_t pixels) {
  for (std::size_t i = 0; !bias.empty() && i < y.size(); ++i) y[i] += bias[i / pixels % bias.size()];
}

void write_bias_gradient(const Operands& operands, const Numbers& dy, std::int64_t channels, std::int64_t pixels) {
  Numbers db(channels);
  for (std::size_t i = 0; i < dy.size(); ++i) db[i / pixels % db.size()] += dy[i];
  operands.write(ProductWeightGradient::db, db);
}

void forward(const Call& call, Precision precision) {
  const Conv2dShape s = conv2d_shape(call.parameters), first = first_convolution(s), second = second_convolution(s);
  const Operands operands(call, precision);
  using Buffers = ProductForward;
  Numbers y = convolve(first, call.n, operands.read(Buffers::x, call.n * input_elements(s)),
                       operands.read(Buffers::u, weight_elements(first)));
  if (s.rank > 0) {
    operands.write(Buffers::t, y);
    y = convolve(second, call.n, y, operands.read(Buffers::v, weight_elements(second)));
  }
  add_bias(y, operands.read(Buffers::bias, s.bias ? s.out : 0), output_pixels(s));
  operands.write(Buffers::y, y);
}

void data_gradient(const Call& call, Precision precision) {
  const Conv2dShape s = conv2d_shape(call.parameters), first = first_convolution(s), second = second_convolution(s);
  const Operands operands(call, precision);
  using Buffers = ProductDataGradient;
  Numbers dy = operands.read(Buffers::dy, call.n * output_elements(s));
  if (s.rank > 0) {
    dy = input_gradient(second, call.n, dy, operands.read(Buffers::v, weight_elements(second)));
    operands.write(Buffers::dt, dy);
  }
  Numbers dx = input_gradient(first, call.n, dy, operands.read(Buffers::u, weight_elements(first)));
  operands.write(Buffers::dx, dx);
}

void weight_gradient(const Call& call, Precision precision) {
  const Conv2dShape s = conv2d_shape(call.parameters), first = first_convolution(s), second = second_convolution(s);
  const Operands operands(call, precision);
  using Buffers = ProductWeightGradient;
  const Numbers x = operands.read(Buffers::x, call.n * input_elements(s)),
                dy = operands.read(Buffers::dy, call.n * output_elements(s));
  Numbers du =
      kernel_gradient(first, call.n, x, s.rank > 0 ? operands.read(Buffers::dt, call.n * output_elements(first)) : dy);
  operands.write(Buffers::du, du);
  if (s.rank > 0) {
    Numbers dv = kernel_gradient(second, call.n, operands.read(Buffers::t, call.n * input_elements(second)), dy);
    operands.write(Buffers::dv, dv);
  }
  if (s.bias) write_bias_gradient(operands, dy, s.out, output_pixels(s));
}

void transposed_forward(const Call& call, Precision precision) {
  const ConvTranspose2dShape s = conv_transpose2d_shape(call.parameters);
  const Conv2dShape adjoint = adjoint_of(s);
  const Operands operands(call, precision);
  using Buffers = ProductForward;
  Numbers y = input_gradient(adjoint, call.n, operands.read(Buffers::x, call.n * output_elements(adjoint)),
                             operands.read(Buffers::u, weight_elements(adjoint)));
  add_bias(y, operands.read(Buffers::bias, s.bias ? s.out : 0), adjoint.height * adjoint.width);
  operands.write(Buffers::y, y);
}

void transposed_data_gradient(const Call& call, Precision precision) {
  const Conv2dShape adjoint = adjoint_of(conv_transpose2d_shape(call.parameters));
  const Operands operands(call, precision);
  using Buffers = ProductDataGradient;
  Numbers dx = convolve(adjoint, call.n, operands.read(Buffers::dy, call.n * input_elements(adjoint)),
                        operands.read(Buffers::u, weight_elements(adjoint)));
  operands.write(Buffers::dx, dx);
}

void transposed_weight_gradient(const Call& call, Precision precision) {
  const ConvTranspose2dShape s = conv_transpose2d_shape(call.parameters);
  const Conv2dShape adjoint = adjoint_of(s);
  const Operands operands(call, precision);
  using Buffers = ProductWeightGradient;
  const Numbers x = operands.read(Buffers::x, call.n * output_elements(adjoint)),
                dy = operands.read(Buffers::dy, call.n * input_elements(adjoint));
  Numbers dw = kernel_gradient(adjoint, call.n, dy, x);
  operands.write(Buffers::du, dw);
  if (s.bias) write_bias_gradient(operands, dy, s.out, adjoint.height * adjoint.width);
}

double flops_of(const Conv2dShape& x) { return 2 * real(taps(x)) * real(output_elements(x)); }

/// Buffers of the three parts of a layer that takes `in` elements of an image to `out`. An element of y has `terms`
/// products, one of dx `gradient_terms`. If factorized, an element of t and one of dt have `inner_...` products, else
/// 0.
struct ImageLayer {
  Precision p;
  std::int64_t in, out, u, v, bias, t;
  std::int64_t terms, inner_terms, gradient_terms, inner_gradient_terms;
  std::int64_t pixels;  ///< pixels of an image, over which a weight's gradient is summed
  bool transforms = false;

  /// cuDNN may convolve by Winograd's or Fourier transforms, which sum larger numbers, and not whole ones. The margin
  /// is 16 in fp32 and 4 in tf32, where tensor cores' operands are cut after the transform. bf16's own tolerance is
  /// wide enough.
  [[nodiscard]] Buffer output(Role role, const char* name, std::int64_t count, std::int64_t products,
                              std::int64_t inner = 0) const {
    Deviation deviation = deviation_of(p, products, inner);
    if (transforms) deviation.tolerance *= p == Precision::fp32 ? 16 : p == Precision::tf32 ? 4 : 1;
    return transforms || inner > 0 ? result(role, name, p, count, deviation)
                                   : product_result(role, name, p, count, deviation);
  }
  [[nodiscard]] std::vector<Buffer> forward(std::int64_t n) const {
    return {values(Role::input, "x", p, n * in),
            values(Role::weight, "u", p, u),
            values(Role::weight, "v", p, v),
            values(Role::weight, "bias", p, bias),
            output(Role::kept, "t", n * t, inner_terms),
            output(Role::output, "y", n * out, terms, inner_terms)};
  }
  [[nodiscard]] std::vector<Buffer> data_gradient(std::int64_t n) const {
    return {values(Role::output_gradient, "dy", p, n * out), values(Role::weight, "u", p, u),
            values(Role::weight, "v", p, v), output(Role::kept, "dt", n * t, inner_gradient_terms),
            output(Role::input_gradient, "dx", n * in, gradient_terms, inner_gradient_terms)};
  }
  [[nodiscard]] std::vector<Buffer> weight_gradient(std::int64_t n) const {
    const std::int64_t sum = n * pixels;
    return {values(Role::input, "x", p, n * in),
            values(Role::kept, "t", p, n * t),
            values(Role::kept, "dt", p, n * t),
            values(Role::output_gradient, "dy", p, n * out),
            output(Role::weight_gradient, "du", u, sum),
            output(Role::weight_gradient, "dv", v, sum),
            output(Role::weight_gradient, "db", bias, sum)};
  }
};

using Reference = void (*)(const Call&, Precision);

LayerKernels image_layer(const std::string& layer, const std::string& method,
                         const std::vector<std::int64_t>& parameters, const ImageLayer& image, double product_flops,
                         double bias_flops, Reference forward_reference, Reference data_reference,
                         Reference weight_reference) {
  const auto kernel = [&](const char* part, std::vector<Buffer> (ImageLayer::*buffers)(std::int64_t) const,
                          double operations, Reference reference) {
    return layer_kernel(
        layer + part, method, parameters, [=](std::int64_t n) { return (image.*buffers)(n); },
        [=](std::int64_t n) { return real(n) * operations; },
        [=, p = image.p](const Call& call) { reference(call, p); });
  };
  return {kernel("-forward", &ImageLayer::forward, product_flops + bias_flops, forward_reference),
          kernel("-data-gradient", &ImageLayer::data_gradient, product_flops, data_reference),
          kernel("-weight-gradient", &ImageLayer::weight_gradient, product_flops + bias_flops, weight_reference)};
}

}  // namespace

LayerKernels conv2d_layer(const Conv2dShape& s, Precision p, ConvolutionPath path) {
  const Conv2dShape first = first_convolution(s), second = second_convolution(s);
  const bool factorized = s.rank > 0;
  const std::int64_t back = first.out / s.groups * s.kernel_height * s.kernel_width;  // products for an element of dx
  const ImageLayer image{.p = p,
                         .in = input_elements(s),
                         .out = output_elements(s),
                         .u = weight_elements(first),
                         .v = factorized ? weight_elements(second) : 0,
                         .bias = s.bias ? s.out : 0,
                         .t = factorized ? output_elements(first) : 0,
                         .terms = taps(first) + s.rank,
                         .inner_terms = factorized ? taps(first) : 0,
                         .gradient_terms = back + (factorized ? s.out : 0),
                         .inner_gradient_terms = factorized ? s.out : 0,
                         .pixels = output_pixels(s),
                         .transforms = path == ConvolutionPath::cudnn};
  return image_layer("conv2d", prefix_of(path) + std::string(name_of(p)), parameters_of(s), image,
                     flops_of(first) + (factorized ? flops_of(second) : 0), real(s.bias ? output_elements(s) : 0),
                     forward, data_gradient, weight_gradient);
}

LayerKernels conv_transpose2d_layer(const ConvTranspose2dShape& s, Precision p) {
  const Conv2dShape adjoint = adjoint_of(s);
  if (output_height(adjoint) != s.height || output_width(adjoint) != s.width)
    throw std::invalid_argument(
        "conv_transpose2d with a kernel of " + std::to_string(s.kernel_height) + " x " +
        std::to_string(s.kernel_width) + " and stride " + std::to_string(s.stride) +
        ": no padding makes the output stride times the input; allowed with stride 1: odd kernels");
  const std::int64_t in = output_elements(adjoint), out = input_elements(adjoint),
                     kernel = s.kernel_height * s.kernel_width;
  const ImageLayer image{.p = p,
                         .in = in,
                         .out = out,
                         .u = weight_elements(adjoint),
                         .v = 0,
                         .bias = s.bias ? s.out : 0,
                         .t = 0,
                         .terms = s.in * kernel,
                         .inner_terms = 0,
                         .gradient_terms = s.out * kernel,
                         .inner_gradient_terms = 0,
                         .pixels = adjoint.height * adjoint.width};
  return image_layer("conv-transpose2d", name_of(p), parameters_of(s), image, flops_of(adjoint), real(s.bias ? out : 0),
                     transposed_forward, transposed_data_gradient, transposed_weight_gradient);
}

}  // namespace stepcast::kernels
