// The mathematics of the product layers' CPU references: products against independent ones, gradients as adjoints and
// against finite differences, operations against the models'.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "kernels/code/bfloat.hpp"
#include "kernels/products.hpp"
#include "kernels/workspace.hpp"
#include "models/workload/layer_work.hpp"
#include "tests/kernels/total.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;
using namespace stepcast::kernels;

namespace {

using Values = std::vector<double>;

/// A kernel's buffers, filled at random until set otherwise, as numbers.
class Bench {
 public:
  Bench(const Kernel& kernel, std::int64_t n, std::uint64_t seed = 1)
      : kernel_(kernel), workspace_(kernel, n, Input::normal, seed) {}

  [[nodiscard]] Values get(std::size_t buffer) const {
    const Buffer& b = workspace_.buffers()[buffer];
    Values x(b.count);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = b.element == Element::bf16
                 ? static_cast<double>(float_of_bfloat(static_cast<const std::uint16_t*>(workspace_.data(buffer))[i]))
                 : static_cast<double>(static_cast<const float*>(workspace_.data(buffer))[i]);
    return x;
  }
  Bench& set(std::size_t buffer, const Values& x) {
    const Buffer& b = workspace_.buffers()[buffer];
    REQUIRE(static_cast<std::int64_t>(x.size()) == b.count);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (b.element == Element::bf16)
        static_cast<std::uint16_t*>(workspace_.data(buffer))[i] = bfloat_bits(static_cast<float>(x[i]));
      else static_cast<float*>(workspace_.data(buffer))[i] = static_cast<float>(x[i]);
    }
    return *this;
  }
  /// Another of the same buffers.
  [[nodiscard]] Bench copy() const {
    Bench other(kernel_, workspace_.call().n);
    for (std::size_t i = 0; i < workspace_.buffers().size(); ++i)
      if (workspace_.bytes(i) > 0) std::memcpy(other.workspace_.data(i), workspace_.data(i), workspace_.bytes(i));
    return other;
  }
  Bench& run() {
    kernel_.reference(workspace_.call());
    return *this;
  }

 private:
  Kernel kernel_;
  Workspace workspace_;
};

double dot(const Values& a, const Values& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double norm_of(const Values& x) { return std::sqrt(dot(x, x)); }

double largest(const Values& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

/// Everywhere within `relative` of the largest expected.
void require_alike(const Values& expected, const Values& got, double relative, const std::string& what) {
  REQUIRE(expected.size() == got.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(expected[i] - got[i]) <= relative * largest(expected)))
      FAIL(what << "[" << i << "]: expected " << expected[i] << ", got " << got[i] << ", largest "
                << largest(expected));
}

// fp32 stores numbers to 2^-24 of them.
constexpr double kStored = 1e-6;

/// <dy, L(x)> = <dx, x> = <dU, U> = <dV, V>, and <dy, b> = <db, b>. A linear map's gradients are its adjoints, for
/// independent dy, x and weights. The tolerance is 1e-5 of the norms, since everything is stored in fp32.
void check_adjoints(const LayerKernels& layer, std::int64_t n, std::uint64_t seed) {
  using F = ProductForward;
  using D = ProductDataGradient;
  using W = ProductWeightGradient;
  Bench forward(*layer.forward, n, seed), data(*layer.data_gradient, n, seed + 1),
      weight(*layer.weight_gradient, n, seed + 2);
  forward.run();
  data.set(D::u, forward.get(F::u)).set(D::v, forward.get(F::v)).run();
  weight.set(W::x, forward.get(F::x))
      .set(W::t, forward.get(F::t))
      .set(W::dt, data.get(D::dt))
      .set(W::dy, data.get(D::dy))
      .run();
  const Values bias = forward.get(F::bias), db = weight.get(W::db), dy = data.get(D::dy);
  const double with_bias = dot(dy, forward.get(F::y)), of_bias = dot(db, bias), expected = with_bias - of_bias,
               allowed = 1e-5 * norm_of(dy) * norm_of(forward.get(F::y));
  const auto check = [&](double got, const char* what) {
    INFO(what << ": expected " << expected << ", got " << got << ", allowed deviation " << allowed);
    CHECK(std::abs(got - expected) <= allowed);
  };
  check(dot(data.get(D::dx), forward.get(F::x)), "<dx, x>");
  check(dot(weight.get(W::du), forward.get(F::u)), "<dU, U>");
  if (!forward.get(F::v).empty()) check(dot(weight.get(W::dv), forward.get(F::v)), "<dV, V>");
  if (bias.empty()) return;
  // Without its bias the layer is less by it: the same inner product from two runs.
  Bench without(*layer.forward, n, seed);
  without.set(F::bias, Values(bias.size(), 0)).run();
  CHECK(std::abs(dot(dy, without.get(F::y)) - expected) <= allowed);
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Output pixel by output pixel, from an image with its border of zeros.
Values convolve_directly(const Conv2dShape& s, std::int64_t n, const Values& x, const Values& w) {
  const std::int64_t height = s.height + 2 * s.padding_height, width = s.width + 2 * s.padding_width,
                     in = s.in / s.groups;
  Values padded(at(n * s.in * height * width)), y;
  for (std::int64_t i = 0; i < n * s.in; ++i)
    for (std::int64_t r = 0; r < s.height; ++r)
      for (std::int64_t c = 0; c < s.width; ++c)
        padded[at((i * height + r + s.padding_height) * width + c + s.padding_width)] =
            x[at((i * s.height + r) * s.width + c)];
  for (std::int64_t image = 0; image < n; ++image)
    for (std::int64_t o = 0; o < s.out; ++o)
      for (std::int64_t top = 0; top + s.kernel_height <= height; top += s.stride)
        for (std::int64_t left = 0; left + s.kernel_width <= width; left += s.stride) {
          double sum = 0;
          for (std::int64_t c = 0; c < in; ++c)
            for (std::int64_t i = 0; i < s.kernel_height; ++i)
              for (std::int64_t j = 0; j < s.kernel_width; ++j) {
                const std::int64_t channel = o * s.groups / s.out * in + c;
                sum += w[at(((o * in + c) * s.kernel_height + i) * s.kernel_width + j)] *
                       padded[at(((image * s.in + channel) * height + top + i) * width + left + j)];
              }
          y.push_back(sum);
        }
  return y;
}

Conv2dShape any_convolution() {
  Conv2dShape s{};
  s.groups = integer_between(1, 3);
  s.in = s.groups * integer_between(1, 3);
  s.out = s.groups * integer_between(1, 3);
  s.kernel_height = integer_between(1, 4);
  s.kernel_width = integer_between(1, 4);
  s.stride = integer_between(1, 3);
  s.padding_height = integer_between(0, static_cast<int>(s.kernel_height) - 1);
  s.padding_width = integer_between(0, static_cast<int>(s.kernel_width) - 1);
  s.height = s.kernel_height + integer_between(0, 5);
  s.width = s.kernel_width + integer_between(0, 5);
  s.bias = coin();
  return s;
}

}  // namespace

TEST_CASE("parameters give the shape back") {
  const LinearShape linear{2, 3, 5, 7, true};
  const Conv2dShape conv{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, true};
  const ConvTranspose2dShape transposed{2, 3, 5, 7, 11, 13, 17, true};
  const LstmShape lstm{2, 3, 5, 7, 11};
  const AttentionShape attention{2, 3, 5, 7};
  // All different, in the order of the struct.
  CHECK(parameters_of(linear) == std::vector<std::int64_t>{2, 3, 5, 7, 1});
  CHECK(parameters_of(conv) == std::vector<std::int64_t>{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 1});
  CHECK(parameters_of(linear_shape(parameters_of(linear).data())) == parameters_of(linear));
  CHECK(parameters_of(conv2d_shape(parameters_of(conv).data())) == parameters_of(conv));
  CHECK(parameters_of(conv_transpose2d_shape(parameters_of(transposed).data())) == parameters_of(transposed));
  CHECK(parameters_of(lstm_shape(parameters_of(lstm).data())) == parameters_of(lstm));
  CHECK(parameters_of(attention_shape(parameters_of(attention).data())) == parameters_of(attention));
}

TEST_CASE("linear: Y = X Wᵀ + b") {
  using F = ProductForward;
  for (const Precision precision : kPrecisions) {
    Bench bench(*linear_layer({.in = 3, .out = 2, .rows = 2, .bias = true}, precision).forward, 1);
    // W = (1 2 3; 4 5 6), b = (0.5, -1): rows (1, 0, -1) and (2, 2, 0.25). All exact in 8 bits.
    bench.set(F::x, {1, 0, -1, 2, 2, 0.25}).set(F::u, {1, 2, 3, 4, 5, 6}).set(F::bias, {0.5, -1}).run();
    CHECK(bench.get(F::y) == Values{1 - 3 + 0.5, 4 - 6 - 1, 2 + 4 + 0.75 + 0.5, 8 + 10 + 1.5 - 1});
  }
}

TEST_CASE("linear layers: gradients are adjoints") {
  property("plain and factorized", [] {
    const LinearShape shape{.in = integer_between(1, 9),
                            .out = integer_between(1, 9),
                            .rows = integer_between(1, 4),
                            .rank = integer_between(0, 4),
                            .bias = coin()};
    check_adjoints(linear_layer(shape, Precision::fp32), integer_between(1, 5),
                   static_cast<std::uint64_t>(integer_between(0, 1 << 20)));
  });
}

TEST_CASE("factorized with U = I is the whole layer") {
  using F = ProductForward;
  for (const Precision precision : kPrecisions) {
    Bench whole(*linear_layer({.in = 5, .out = 7, .rows = 2, .bias = true}, precision).forward, 3),
        factorized(*linear_layer({.in = 5, .out = 7, .rows = 2, .rank = 5, .bias = true}, precision).forward, 3);
    Values identity(25);
    for (std::size_t i = 0; i < 5; ++i) identity[6 * i] = 1;
    whole.run();
    factorized.set(F::x, whole.get(F::x))
        .set(F::u, identity)
        .set(F::v, whole.get(F::u))
        .set(F::bias, whole.get(F::bias))
        .run();
    CHECK(factorized.get(F::t) == whole.get(F::x));
    CHECK(factorized.get(F::y) == whole.get(F::y));

    // Convolution: r = in·kh·kw channels, each one tap of the kernel; V is then the weight.
    Conv2dShape shape{.in = 2,
                      .out = 3,
                      .kernel_height = 3,
                      .kernel_width = 2,
                      .stride = 2,
                      .padding_height = 1,
                      .padding_width = 0,
                      .groups = 1,
                      .height = 6,
                      .width = 5,
                      .bias = true};
    Bench convolution(*conv2d_layer(shape, precision).forward, 2);
    shape.rank = 12;
    Bench taps_apart(*conv2d_layer(shape, precision).forward, 2);
    Values taps(144);
    for (std::size_t i = 0; i < 12; ++i) taps[13 * i] = 1;
    convolution.run();
    taps_apart.set(F::x, convolution.get(F::x))
        .set(F::u, taps)
        .set(F::v, convolution.get(F::u))
        .set(F::bias, convolution.get(F::bias))
        .run();
    CHECK(taps_apart.get(F::y) == convolution.get(F::y));
  }
}

TEST_CASE("convolution is the direct one") {
  using F = ProductForward;
  property("any shape, any precision", [] {
    const Conv2dShape shape = any_convolution();
    const std::int64_t n = integer_between(1, 3);
    for (const Precision precision : kPrecisions) {
      Bench bench(*conv2d_layer(shape, precision).forward, n, static_cast<std::uint64_t>(integer_between(0, 1 << 20)));
      bench.run();
      Values expected = convolve_directly(shape, n, bench.get(F::x), bench.get(F::u));
      const Values bias = bench.get(F::bias);
      for (std::size_t i = 0; shape.bias && i < expected.size(); ++i)
        expected[i] += bias[i * at(n) * bias.size() / expected.size() % bias.size()];
      // bf16 rounds to 8 bits: at most 2^-9 of the next power of two, 2^-8 of the number.
      require_alike(expected, bench.get(F::y), precision == Precision::bf16 ? 0x1p-8 : kStored, "y");
    }
  });
}

TEST_CASE("convolutions: gradients are adjoints") {
  property("plain, in groups, factorized", [] {
    Conv2dShape shape = any_convolution();
    if (shape.groups == 1) shape.rank = integer_between(0, 3);
    check_adjoints(conv2d_layer(shape, Precision::fp32), integer_between(1, 3),
                   static_cast<std::uint64_t>(integer_between(0, 1 << 20)));
  });
}

TEST_CASE("a kernel as large as the image is a linear layer") {
  using F = ProductForward;
  Bench convolution(*conv2d_layer({.in = 3,
                                   .out = 5,
                                   .kernel_height = 4,
                                   .kernel_width = 2,
                                   .stride = 1,
                                   .padding_height = 0,
                                   .padding_width = 0,
                                   .groups = 1,
                                   .height = 4,
                                   .width = 2,
                                   .bias = true},
                                  Precision::fp32)
                         .forward,
                    3);
  Bench linear(*linear_layer({.in = 24, .out = 5, .rows = 1, .bias = true}, Precision::fp32).forward, 3);
  linear.run();
  convolution.set(F::x, linear.get(F::x)).set(F::u, linear.get(F::u)).set(F::bias, linear.get(F::bias)).run();
  require_alike(linear.get(F::y), convolution.get(F::y), kStored, "y");
}

TEST_CASE("groups are convolutions of their own") {
  using F = ProductForward;
  Conv2dShape shape{.in = 4,
                    .out = 4,
                    .kernel_height = 3,
                    .kernel_width = 3,
                    .stride = 1,
                    .padding_height = 1,
                    .padding_width = 1,
                    .groups = 4,
                    .height = 5,
                    .width = 6};
  Bench depthwise(*conv2d_layer(shape, Precision::fp32).forward, 1);
  const Values y = depthwise.run().get(F::y), x = depthwise.get(F::x), w = depthwise.get(F::u);
  shape.in = shape.out = shape.groups = 1;
  for (std::ptrdiff_t channel = 0; channel < 4; ++channel) {
    Bench alone(*conv2d_layer(shape, Precision::fp32).forward, 1);
    alone.set(F::x, {x.begin() + 30 * channel, x.begin() + 30 * (channel + 1)})
        .set(F::u, {w.begin() + 9 * channel, w.begin() + 9 * (channel + 1)})
        .run();
    CHECK(alone.get(F::y) == Values(y.begin() + 30 * channel, y.begin() + 30 * (channel + 1)));
  }
}

TEST_CASE("transposed convolution: stride times the input, each pixel adds a kernel") {
  using F = ProductForward;
  property("kernels of any size that some padding makes fit", [] {
    ConvTranspose2dShape s{.in = integer_between(1, 3),
                           .out = integer_between(1, 3),
                           .kernel_height = integer_between(1, 5),
                           .kernel_width = integer_between(1, 5),
                           .stride = integer_between(2, 3),
                           .height = integer_between(1, 4),
                           .width = integer_between(1, 4),
                           .bias = coin()};
    const std::int64_t n = integer_between(1, 2);
    const LayerKernels layer = conv_transpose2d_layer(s, Precision::fp32);
    const auto seed = static_cast<std::uint64_t>(integer_between(0, 1 << 20));
    Bench bench(*layer.forward, n, seed);
    bench.run();
    const Values x = bench.get(F::x), w = bench.get(F::u), bias = bench.get(F::bias);
    const std::int64_t rows = s.stride * s.height, columns = s.stride * s.width;
    // The kernel exceeds the stride. Half of this excess, rounded up, is cut off above and on the left.
    const auto cut = [&](std::int64_t kernel) {
      return kernel <= s.stride ? 0 : (kernel - s.stride) / 2 + (kernel - s.stride) % 2;
    };
    Values y(at(n * s.out * rows * columns));
    for (std::size_t i = 0; s.bias && i < y.size(); ++i) y[i] = bias[i / at(rows * columns) % bias.size()];
    for (std::int64_t image = 0; image < n; ++image)
      for (std::int64_t c = 0; c < s.in; ++c)
        for (std::int64_t p = 0; p < s.height; ++p)
          for (std::int64_t q = 0; q < s.width; ++q)
            for (std::int64_t o = 0; o < s.out; ++o)
              for (std::int64_t i = 0; i < s.kernel_height; ++i)
                for (std::int64_t j = 0; j < s.kernel_width; ++j) {
                  const std::int64_t row = s.stride * p + i - cut(s.kernel_height),
                                     column = s.stride * q + j - cut(s.kernel_width);
                  if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
                  y[at(((image * s.out + o) * rows + row) * columns + column)] +=
                      x[at(((image * s.in + c) * s.height + p) * s.width + q)] *
                      w[at(((c * s.out + o) * s.kernel_height + i) * s.kernel_width + j)];
                }
    require_alike(y, bench.get(F::y), kStored, "y");
    check_adjoints(layer, n, seed);
  });
  CHECK_THROWS_AS(conv_transpose2d_layer(
                      {.in = 1, .out = 1, .kernel_height = 2, .kernel_width = 2, .stride = 1, .height = 3, .width = 3},
                      Precision::fp32),
                  std::invalid_argument);
}

TEST_CASE("LSTM: one unit, two steps, by hand") {
  using F = LstmForward;
  const auto sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
  Bench bench(*lstm_layer({.input = 1, .hidden = 1, .steps = 2}, Precision::fp32).forward, 1);
  // Gates i, f, g, o.
  const Values w = {0.5, -0.25, 1, 0.75}, u = {-1, 0.5, 0.25, 2}, b = {0.125, 0.5, -0.5, 0.25}, x = {1.5, -2};
  bench.set(F::x, x)
      .set(F::u_x, w)
      .set(F::u_h, u)
      .set(F::bias, b)
      .set(F::hidden, {0.5, 0, 0})
      .set(F::cells, {-0.75, 0, 0})
      .run();
  const Values gates = bench.get(F::gates);
  double h = 0.5, c = -0.75;
  for (std::size_t t = 0; t < 2; ++t) {
    const auto gate = [&](std::size_t q) { return w[q] * x[t] + u[q] * h + b[q]; };
    const double i = sigmoid(gate(0)), f = sigmoid(gate(1)), g = std::tanh(gate(2)), o = sigmoid(gate(3));
    c = f * c + i * g;
    h = o * std::tanh(c);
    require_alike({i, f, g, o}, {gates[4 * t], gates[4 * t + 1], gates[4 * t + 2], gates[4 * t + 3]}, kStored, "gates");
    require_close(h, bench.get(F::hidden)[t + 1], kStored, "h");
    require_close(c, bench.get(F::cells)[t + 1], kStored, "c");
  }
}

TEST_CASE("LSTM: factorized gates are the gates of the products") {
  using F = LstmForward;
  const std::int64_t in = 5, h = 4, rx = 3, rh = 2, n = 3;
  Bench factorized(
      *lstm_layer({.input = in, .hidden = h, .steps = 3, .input_rank = rx, .hidden_rank = rh}, Precision::fp32).forward,
      n),
      whole(*lstm_layer({.input = in, .hidden = h, .steps = 3}, Precision::fp32).forward, n);
  factorized.run();
  const auto product = [&](const Values& u, const Values& v, std::int64_t width, std::int64_t rank) {
    Values w(at(4 * h * width));
    for (std::int64_t q = 0; q < 4; ++q)
      for (std::int64_t i = 0; i < h; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          for (std::int64_t k = 0; k < rank; ++k)
            w[at((q * h + i) * width + j)] += v[at((q * h + i) * rank + k)] * u[at((q * rank + k) * width + j)];
    return w;
  };
  whole.set(F::x, factorized.get(F::x))
      .set(F::u_x, product(factorized.get(F::u_x), factorized.get(F::v_x), in, rx))
      .set(F::u_h, product(factorized.get(F::u_h), factorized.get(F::v_h), h, rh));
  whole.set(F::bias, factorized.get(F::bias))
      .set(F::hidden, factorized.get(F::hidden))
      .set(F::cells, factorized.get(F::cells))
      .run();
  require_alike(whole.get(F::hidden), factorized.get(F::hidden), 1e-5, "hidden");
}

namespace {

/// d/ds f(θ + s δ) at 0 by central differences of fourth order, with step e = 0.02. The error has e⁴ times the fifth
/// derivative, 1e-7, and fp32's 6e-8 divided by e, 3e-6.
template <class F>
double derivative(const Values& theta, const Values& direction, F f) {
  constexpr double e = 0.02;
  const auto moved = [&](double s) {
    Values x = theta;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += s * direction[i];
    return f(x);
  };
  return (8 * (moved(e) - moved(-e)) - (moved(2 * e) - moved(-2 * e))) / (12 * e);
}

/// Along the gradient and along another direction, both of length 1; f's values are about `size`.
template <class F>
void check_gradient(const std::string& what, const Values& theta, const Values& gradient, double size, F f) {
  INFO(what);
  Values along = gradient, other(gradient.size());
  for (std::size_t i = 0; i < other.size(); ++i) other[i] = std::cos(static_cast<double>(7 * i * i + 1));
  for (Values* direction : {&along, &other}) {
    const double length = norm_of(*direction);
    REQUIRE(length > 0);
    for (double& value : *direction) value /= length;
    const double expected = derivative(theta, *direction, f), got = dot(gradient, *direction),
                 allowed = 1e-4 * norm_of(gradient) + 1e-5 * size;
    INFO("expected " << expected << ", got " << got << ", allowed deviation " << allowed);
    CHECK(std::abs(expected - got) <= allowed);
  }
}

}  // namespace

TEST_CASE("LSTM: gradients through time against finite differences") {
  using F = LstmForward;
  using D = LstmDataGradient;
  using W = LstmWeightGradient;
  for (const LstmShape& shape : {LstmShape{.input = 4, .hidden = 3, .steps = 4},
                                 LstmShape{.input = 4, .hidden = 5, .steps = 3, .input_rank = 2, .hidden_rank = 3},
                                 LstmShape{.input = 3, .hidden = 4, .steps = 2, .hidden_rank = 2}}) {
    const std::int64_t n = 2;
    const auto state = static_cast<std::ptrdiff_t>(n * shape.hidden);
    const LayerKernels layer = lstm_layer(shape, Precision::fp32);
    Bench forward(*layer.forward, n, 5), data(*layer.data_gradient, n, 6), weight(*layer.weight_gradient, n, 7);
    forward.run();
    data.set(D::gates, forward.get(F::gates))
        .set(D::cells, forward.get(F::cells))
        .set(D::u_x, forward.get(F::u_x))
        .set(D::v_x, forward.get(F::v_x));
    data.set(D::u_h, forward.get(F::u_h)).set(D::v_h, forward.get(F::v_h)).run();
    const Values hidden = forward.get(F::hidden), cells = forward.get(F::cells), dy = data.get(D::dy);
    weight.set(W::x, forward.get(F::x))
        .set(W::hidden, {hidden.begin(), hidden.end() - state})
        .set(W::t_x, forward.get(F::t_x))
        .set(W::t_h, forward.get(F::t_h));
    weight.set(W::dgates, data.get(D::dgates)).set(W::dt_x, data.get(D::dt_x)).set(W::dt_h, data.get(D::dt_h)).run();

    const auto loss = [&](std::size_t buffer, const Values& x) {
      Bench moved = forward.copy();
      Values y = moved.set(buffer, x).run().get(F::hidden);
      return dot(dy, {y.begin() + state, y.end()});
    };
    const double size = norm_of(dy) * norm_of(hidden);
    const auto check = [&](const char* what, std::size_t buffer, const Values& gradient) {
      check_gradient(what, forward.get(buffer), gradient, size, [&](const Values& x) { return loss(buffer, x); });
    };
    check("x", F::x, data.get(D::dx));
    check("u_x", F::u_x, weight.get(W::du_x));
    check("u_h", F::u_h, weight.get(W::du_h));
    if (shape.input_rank > 0) check("v_x", F::v_x, weight.get(W::dv_x));
    if (shape.hidden_rank > 0) check("v_h", F::v_h, weight.get(W::dv_h));
    check("bias", F::bias, weight.get(W::db));
    for (const auto& [what, buffer, gradient, all] : {std::tuple{"h0", int{F::hidden}, data.get(D::dh), hidden},
                                                      std::tuple{"c0", int{F::cells}, data.get(D::dc), cells}}) {
      const Values initial(all.begin(), all.begin() + state);
      const Values& rest = all;
      const int moved_buffer = buffer;
      check_gradient(what, initial, gradient, size, [&](const Values& x) {
        Values moved = rest;
        std::copy(x.begin(), x.end(), moved.begin());
        return loss(moved_buffer, moved);
      });
    }
  }
}

TEST_CASE("attention: one key returns its value; equal scores return the mean") {
  using F = AttentionForward;
  for (const Precision precision : kPrecisions) {
    Bench one(*attention_layer({.heads = 2, .d = 6, .sequence = 3, .memory = 1}, precision).forward, 2);
    const Values y = one.run().get(F::y), v = one.get(F::v);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == v[i / 18 * 6 + i % 6]);

    // No query: every key weighs 1/4, exact in 8 bits.
    Bench mean(*attention_layer({.heads = 1, .d = 3, .sequence = 1, .memory = 4}, precision).forward, 1);
    mean.set(F::q, {0, 0, 0}).set(F::v, {1, 2, 3, 5, 6, 7, -1, 0, 4, 3, 4, 2}).run();
    CHECK(mean.get(F::y) == Values{2, 3, 4});
  }
}

TEST_CASE("attention: heads keep to their columns, scores are scaled by the root of a head's width") {
  using F = AttentionForward;
  // Two heads of width 4, scale 1/2. Head 0: scores 2·1·1 = 2 and 0, times 1/2: 1 and 0. Head 1: 0 and 2·2 = 4, times
  // 1/2: 0 and 2.
  Bench bench(*attention_layer({.heads = 2, .d = 8, .sequence = 1, .memory = 2}, Precision::fp32).forward, 1);
  bench.set(F::q, {1, 1, 0, 0, 2, 0, 0, 0}).set(F::k, {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0});
  bench.set(F::v, {1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}).run();
  const double first = std::exp(1) / (std::exp(1) + 1), second = std::exp(2) / (1 + std::exp(2));
  require_alike({first, 1 - first, 1 - second, second}, bench.get(F::probabilities), kStored, "probabilities");
  require_alike({first, 1 - first, 0, 0, second, 1 - second, 0, 0}, bench.get(F::y), kStored, "y");
}

TEST_CASE("attention: gradients against finite differences") {
  using F = AttentionForward;
  using D = AttentionDataGradient;
  for (const AttentionShape& shape : {AttentionShape{.heads = 2, .d = 6, .sequence = 3, .memory = 5},
                                      AttentionShape{.heads = 1, .d = 4, .sequence = 4, .memory = 4}}) {
    const LayerKernels layer = attention_layer(shape, Precision::fp32);
    CHECK_FALSE(layer.weight_gradient);
    Bench forward(*layer.forward, 2, 3), data(*layer.data_gradient, 2, 4);
    forward.run();
    data.set(D::q, forward.get(F::q))
        .set(D::k, forward.get(F::k))
        .set(D::v, forward.get(F::v))
        .set(D::probabilities, forward.get(F::probabilities))
        .run();
    const Values dy = data.get(D::dy);
    const double size = norm_of(dy) * norm_of(forward.get(F::y));
    const auto check = [&](const char* what, std::size_t buffer, const Values& gradient) {
      check_gradient(what, forward.get(buffer), gradient, size, [&](const Values& x) {
        Bench moved = forward.copy();
        return dot(dy, moved.set(buffer, x).run().get(F::y));
      });
    };
    check("q", F::q, data.get(D::dq));
    check("k", F::k, data.get(D::dk));
    check("v", F::v, data.get(D::dv));
  }
}

TEST_CASE("operations are the models'") {
  const auto check = [](const LayerKernels& layer, const std::vector<LayerShape>& shapes, const std::string& what) {
    LayerWork work;
    for (const LayerShape& shape : shapes) {
      const LayerWork part = work_of(shape, 7, Dtype::fp32);
      work.forward += part.forward;
      work.data_gradient += part.data_gradient;
      work.weight_gradient += part.weight_gradient;
    }
    require_close(work.forward.flops.si(), layer.forward->flops(7), 1e-15, what + ", forward");
    require_close(work.data_gradient.flops.si(), layer.data_gradient->flops(7), 1e-15, what + ", data gradient");
    require_close(work.weight_gradient.flops.si(), layer.weight_gradient ? layer.weight_gradient->flops(7) : 0, 1e-15,
                  what + ", weight gradient");
  };
  check(linear_layer({.in = 100, .out = 30, .rows = 5, .bias = true}, Precision::bf16),
        {Linear{.in = 100, .out = 30, .rows = 5, .bias = true}}, "linear");
  check(linear_layer({.in = 100, .out = 30, .rows = 5, .rank = 9, .bias = true}, Precision::bf16),
        {Linear{.in = 100, .out = 9, .rows = 5, .bias = false}, Linear{.in = 9, .out = 30, .rows = 5, .bias = true}},
        "factorized linear");
  check(conv2d_layer({.in = 16,
                      .out = 24,
                      .kernel_height = 3,
                      .kernel_width = 5,
                      .stride = 2,
                      .padding_height = 1,
                      .padding_width = 2,
                      .groups = 4,
                      .height = 28,
                      .width = 30,
                      .bias = true},
                     Precision::fp32),
        {Conv2d{.in = 16,
                .out = 24,
                .kernel = {3, 5},
                .stride = 2,
                .padding = {1, 2},
                .groups = 4,
                .bias = true,
                .input = {28, 30}}},
        "convolution");
  check(conv2d_layer({.in = 16,
                      .out = 24,
                      .kernel_height = 3,
                      .kernel_width = 3,
                      .stride = 2,
                      .padding_height = 1,
                      .padding_width = 1,
                      .groups = 1,
                      .height = 28,
                      .width = 30,
                      .rank = 6},
                     Precision::fp32),
        {Conv2d{.in = 16, .out = 6, .kernel = {3, 3}, .stride = 2, .padding = {1, 1}, .input = {28, 30}},
         Conv2d{.in = 6, .out = 24, .input = {14, 15}}},
        "factorized convolution");
  check(conv_transpose2d_layer({.in = 16,
                                .out = 24,
                                .kernel_height = 2,
                                .kernel_width = 2,
                                .stride = 2,
                                .height = 28,
                                .width = 30,
                                .bias = true},
                               Precision::fp32),
        {ConvTranspose2d{.in = 16, .out = 24, .kernel = {2, 2}, .stride = 2, .bias = true, .input = {28, 30}}},
        "transposed convolution");
  check(lstm_layer({.input = 20, .hidden = 30, .steps = 9}, Precision::fp32),
        {Lstm{.input = 20, .hidden = 30, .steps = 9}}, "LSTM");
  check(lstm_layer({.input = 20, .hidden = 30, .steps = 9, .input_rank = 4, .hidden_rank = 7}, Precision::fp32),
        {Lstm{.input = 20, .hidden = 30, .steps = 9, .input_rank = 4, .hidden_rank = 7}}, "factorized LSTM");
  check(attention_layer({.heads = 4, .d = 32, .sequence = 10, .memory = 12}, Precision::fp32),
        {Attention{.heads = 4, .d = 32, .sequence = 10, .memory = 12}}, "attention");
}

TEST_CASE("least traffic: every tensor once") {
  // 6 samples: x 6·5·100, t and dt 6·5·9, y 6·5·30; U 9·100, V 30·9, b 30; two bytes each.
  const LayerKernels layer = linear_layer({.in = 100, .out = 30, .rows = 5, .rank = 9, .bias = true}, Precision::bf16);
  CHECK(layer.forward->bytes(6) == 2 * (3000 + 900 + 270 + 30 + 270 + 900));
  CHECK(layer.data_gradient->bytes(6) == 2 * (900 + 900 + 270 + 270 + 3000));
  CHECK(layer.weight_gradient->bytes(6) == 2 * (3000 + 270 + 270 + 900 + 900 + 270 + 30));
  // Four bytes each: q, v, k, y of 2·3 x 8, probabilities of 2 x 4 x 3 x 3.
  CHECK(attention_layer({.heads = 4, .d = 8, .sequence = 3, .memory = 3}, Precision::tf32).forward->bytes(2) ==
        4 * (4 * 48 + 72));
}

TEST_CASE("layers' references are total: any input, the same twice, and NaN is kept") {
  for (const Kernel& kernel : layer_kernels())
    for (const std::int64_t n : {1, 2, 3}) check_total(kernel, n);
  Bench linear(*linear_layer({.in = 4, .out = 3, .rows = 1}, Precision::bf16).forward, 2);
  linear.set(ProductForward::x, {1, 1, 1, 1, 1, std::nan(""), 1, 1}).run();
  const Values y = linear.get(ProductForward::y);
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(y[i]) == (i >= 3));
}

TEST_CASE("a name and its parameters tell kernels apart; the same name has the same buffers") {
  std::set<std::pair<std::string, std::vector<std::int64_t>>> names;
  for (const std::vector<Kernel>& list : {layer_kernels(), convolution_kernels(ConvolutionPath::cudnn)})
    for (const Kernel& kernel : list) {
      INFO(kernel.name());
      CHECK(names.insert({kernel.name(), kernel.parameters}).second);
      CHECK(kernel.bytes(1) > 0);
      CHECK(kernel.flops(2) == 2 * kernel.flops(1));
    }
}

// Both sides of the tolerance. Operands cut to 10 bits of mantissa, as a tensor core may cut them, pass in tf32 but not
// in fp32. A tenth of a unit more in one of the two operands' entries does not pass in tf32.
TEST_CASE("tolerances let tensor cores pass, and nothing larger") {
  for (const Kernel& kernel : layer_kernels()) {
    if (kernel.method == "bf16") continue;
    for (const double change : {0.0, 0.1}) {
      Workspace exact(kernel, 3, Input::normal, 17), changed(kernel, 3, Input::normal, 17);
      for (std::size_t i = 0; i < exact.buffers().size(); ++i) {
        auto* x = static_cast<float*>(changed.data(i));
        if (exact.buffers()[i].fill != Fill::values) continue;
        for (std::int64_t k = 0; k < exact.buffers()[i].count; ++k)
          x[k] = float_of(bits_of(x[k]) & 0xffffe000U) + static_cast<float>(change);
      }
      kernel.reference(exact.call());
      kernel.reference(changed.call());
      bool differs = false;
      for (std::size_t i = 0; i < exact.buffers().size(); ++i)
        if (exact.buffers()[i].written)
          differs = differs || difference(exact.buffers()[i], exact.data(i), changed.data(i)).has_value();
      INFO(kernel.name() << " with a change of " << change);
      CHECK(differs == (kernel.method == "fp32" || change > 0));
    }
  }
}
