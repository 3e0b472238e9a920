// The layers that sweep memory. CPU references are tested against PyTorch's formulas in double. Their gradients are
// tested against central differences. The rules for NaN, infinities and ties in the headers are tested too.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "kernels/code/elements.hpp"
#include "kernels/code/updates.hpp"
#include "kernels/code/windows.hpp"
#include "kernels/layers.hpp"
#include "kernels/workspace.hpp"
#include "models/workload/layer_work.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast::test;
using namespace stepcast::kernels;
using stepcast::LayerShape;

namespace {

using Vector = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = 1e-5;  // ε of the norms

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

Vector numbers(const Workspace& workspace, std::size_t at) {
  const Buffer& buffer = workspace.buffers()[at];
  Vector x(size(buffer.count));
  for (std::size_t i = 0; i < x.size(); ++i) {
    switch (buffer.element) {
      case Element::f32: x[i] = static_cast<double>(static_cast<const float*>(workspace.data(at))[i]); break;
      case Element::bf16:
        x[i] = static_cast<double>(float_of_bfloat(static_cast<const std::uint16_t*>(workspace.data(at))[i]));
        break;
      case Element::u8: x[i] = static_cast<const std::uint8_t*>(workspace.data(at))[i]; break;
      default: x[i] = static_cast<const std::uint32_t*>(workspace.data(at))[i]; break;
    }
  }
  return x;
}

void set(const Workspace& workspace, std::size_t at, const Vector& x) {
  const Buffer& buffer = workspace.buffers()[at];
  REQUIRE(x.size() == size(buffer.count));
  for (std::size_t i = 0; i < x.size(); ++i) {
    switch (buffer.element) {
      case Element::f32: static_cast<float*>(workspace.data(at))[i] = static_cast<float>(x[i]); break;
      case Element::bf16:
        static_cast<std::uint16_t*>(workspace.data(at))[i] = bfloat_bits(static_cast<float>(x[i]));
        break;
      case Element::u8: static_cast<std::uint8_t*>(workspace.data(at))[i] = static_cast<std::uint8_t>(x[i]); break;
      default: static_cast<std::uint32_t*>(workspace.data(at))[i] = static_cast<std::uint32_t>(x[i]); break;
    }
  }
}

/// Runs a kernel's reference with some buffers set; the workspace then holds the results.
Workspace run(const Kernel& kernel, std::int64_t n, const std::map<std::size_t, Vector>& inputs,
              std::uint64_t seed = 1) {
  Workspace workspace(kernel, n, Input::normal, seed);
  for (const auto& [at, x] : inputs) set(workspace, at, x);
  kernel.reference(workspace.call());
  return workspace;
}

/// Normal numbers, exact in float.
Vector draw(std::int64_t n, std::uint64_t seed) {
  return numbers(Workspace(*add_layer({n}, Precision::fp32).forward, 1, Input::normal, seed), 0);
}

/// Each entry within `relative` of the largest expected.
void require_near(const Vector& expected, const Vector& got, double relative, const std::string& what) {
  REQUIRE(expected.size() == got.size());
  double largest = 0;
  for (const double e : expected) largest = std::max(largest, std::abs(e));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(got[i] - expected[i]) <= relative * largest))
      FAIL(what << "[" << i << "]: expected " << expected[i] << ", got " << got[i] << ", largest " << largest);
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Central differences of a function of x: with h = 1e-5 the error is some 1e-10 from h² and 1e-11 from rounding.
Vector difference_quotients(const std::function<double(const Vector&)>& f, Vector x) {
  constexpr double h = 1e-5;
  Vector gradient(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double middle = x[i];
    x[i] = middle + h;
    const double above = f(x);
    x[i] = middle - h;
    gradient[i] = (above - f(x)) / (2 * h);
    x[i] = middle;
  }
  return gradient;
}

// Results are rounded to float, and backward reads mean and inverse deviation as rounded.
constexpr double kFloat = 1e-6;

/// (x - mean)/sqrt(var + ε)·scale + bias of each group; group(i) and parameter(i) of an element.
struct NormOracle {
  std::size_t groups;
  std::function<std::size_t(std::size_t)> group, parameter;

  [[nodiscard]] Vector operator()(const Vector& x, const Vector& scale, const Vector& bias) const {
    Vector count(groups), mean(groups), variance(groups), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) count[group(i)] += 1;
    for (std::size_t i = 0; i < x.size(); ++i) mean[group(i)] += x[i] / count[group(i)];
    for (std::size_t i = 0; i < x.size(); ++i)
      variance[group(i)] += (x[i] - mean[group(i)]) * (x[i] - mean[group(i)]) / count[group(i)];
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] =
          (x[i] - mean[group(i)]) / std::sqrt(variance[group(i)] + kEpsilon) * scale[parameter(i)] + bias[parameter(i)];
    return y;
  }
};

void check_norm(const LayerKernels& layer, std::int64_t n, std::size_t parameters, const NormOracle& oracle) {
  Workspace drawn(*layer.data_gradient, n, Input::normal, 5);
  const Vector dy = numbers(drawn, 0), x = numbers(drawn, 1), scale = numbers(drawn, 2),
               bias = draw(static_cast<std::int64_t>(parameters), 6);
  const Workspace forward = run(*layer.forward, n, {{0, x}, {1, scale}, {2, bias}});
  require_near(oracle(x, scale, bias), numbers(forward, 3), kFloat, "y");
  const Workspace backward =
      run(*layer.data_gradient, n, {{0, dy}, {1, x}, {2, scale}, {3, numbers(forward, 4)}, {4, numbers(forward, 5)}});
  require_near(difference_quotients([&](const Vector& v) { return dot(dy, oracle(v, scale, bias)); }, x),
               numbers(backward, 5), 2 * kFloat, "dx");
  require_near(difference_quotients([&](const Vector& v) { return dot(dy, oracle(x, v, bias)); }, scale),
               numbers(backward, 6), 2 * kFloat, "dscale");
  require_near(difference_quotients([&](const Vector& v) { return dot(dy, oracle(x, scale, v)); }, bias),
               numbers(backward, 7), 2 * kFloat, "dbias");
}

/// Mean log-sum-exp minus the label's logit.
double mean_loss(const Vector& x, const Vector& labels) {
  const std::size_t classes = x.size() / labels.size();
  double loss = 0;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(x[r * classes + k]);
    loss += std::log(sum) - x[r * classes + size(static_cast<std::int64_t>(labels[r]))];
  }
  return loss / static_cast<double>(labels.size());
}

PoolShape random_pool(bool average) {
  PoolShape s{};
  s.average = average;
  s.channels = integer_between(1, 3);
  s.kernel_height = integer_between(1, 4);
  s.kernel_width = integer_between(1, 4);
  s.stride = integer_between(1, 4);
  s.padding_height = integer_between(0, static_cast<int>(s.kernel_height) - 1);
  s.padding_width = integer_between(0, static_cast<int>(s.kernel_width) - 1);
  s.height = integer_between(4, 9);
  s.width = integer_between(4, 9);
  return s;
}

/// The largest or the mean of each window, with zeros in the padding: an own walk over the padded input.
Vector pool_oracle(const PoolShape& s, const Vector& x) {
  const std::size_t planes = x.size() / size(s.height * s.width);
  Vector y;
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (std::int64_t top = -s.padding_height; top + s.kernel_height <= s.height + s.padding_height; top += s.stride)
      for (std::int64_t left = -s.padding_width; left + s.kernel_width <= s.width + s.padding_width; left += s.stride) {
        double most = -kInfinity, sum = 0;
        for (std::int64_t row = top; row < top + s.kernel_height; ++row)
          for (std::int64_t column = left; column < left + s.kernel_width; ++column) {
            if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
            const double value = x[plane * size(s.height * s.width) + size(row * s.width + column)];
            most = std::max(most, value);
            sum += value;
          }
        y.push_back(s.average ? sum / static_cast<double>(s.kernel_height * s.kernel_width) : most);
      }
  return y;
}

}  // namespace

TEST_CASE("activations and their gradients") {
  struct Case {
    ActivationKind kind;
    std::function<double(double)> oracle;
    bool reads_x;  ///< backward, instead of y
  };
  const Case cases[] = {{ActivationKind::relu, [](double x) { return std::max(x, 0.0); }, false},
                        {ActivationKind::gelu, [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }, true},
                        {ActivationKind::tanh, [](double x) { return 1 - 2 / (std::exp(2 * x) + 1); }, false},
                        {ActivationKind::sigmoid, [](double x) { return std::exp(x) / (std::exp(x) + 1); }, false},
                        {ActivationKind::silu, [](double x) { return x * (0.5 + 0.5 * std::tanh(x / 2)); }, true}};
  constexpr std::int64_t count = 101;
  const Vector x = draw(count, 2), dy = draw(count, 3);
  for (const Case& c : cases) {
    const LayerKernels layer = activation_layer({c.kind, count}, Precision::fp32);
    Vector expected(x.size()), slope(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected[i] = c.oracle(x[i]);
      slope[i] = dy[i] * difference_quotients([&](const Vector& v) { return c.oracle(v[0]); }, {x[i]})[0];
    }
    const Vector y = numbers(run(*layer.forward, 1, {{0, x}}), 1);
    require_near(expected, y, kFloat, layer.forward->name());
    require_near(slope, numbers(run(*layer.data_gradient, 1, {{0, dy}, {1, c.reads_x ? x : y}}), 2), kFloat,
                 layer.data_gradient->name());
  }
}

TEST_CASE("activations of zeros, infinities and NaN") {
  const Vector x{kNan, kInfinity, -kInfinity, 0, -0.0, 1};
  const auto value = [&](ActivationKind kind) {
    return numbers(run(*activation_layer({kind, 6}, Precision::fp32).forward, 1, {{0, x}}), 1);
  };
  const Vector relu = value(ActivationKind::relu), gelu = value(ActivationKind::gelu),
               tanh = value(ActivationKind::tanh), sigmoid = value(ActivationKind::sigmoid),
               silu = value(ActivationKind::silu);
  for (const Vector& y : {relu, gelu, tanh, sigmoid, silu}) CHECK(std::isnan(y[0]));
  CHECK(Vector(relu.begin() + 1, relu.end()) == Vector{kInfinity, 0, 0, 0, 1});
  CHECK_FALSE(std::signbit(relu[4]));
  CHECK(gelu[1] == kInfinity);
  CHECK(std::isnan(gelu[2]));
  require_close(0.8413447460685429, gelu[5], 1e-7, "Φ(1)");
  CHECK(Vector(tanh.begin() + 1, tanh.begin() + 4) == Vector{1, -1, 0});
  CHECK(Vector(sigmoid.begin() + 1, sigmoid.begin() + 4) == Vector{1, 0, 0.5});
  CHECK(silu[1] == kInfinity);
  CHECK(std::isnan(silu[2]));
  CHECK(Vector(silu.begin() + 3, silu.begin() + 5) == Vector{0, 0});
  require_close(0.7310585786300049, silu[5], 1e-7, "e/(1 + e)");
  // silu: 0·∞ in the gradients at both infinities, s(0) = 1/2 at zeros, s + s (1 - s) at 1 with s as above. Far below
  // zero, nothing overflows.
  const Vector slope = numbers(run(*activation_layer({ActivationKind::silu, 7}, Precision::fp32).data_gradient, 1,
                                   {{0, Vector(7, 1.0)}, {1, {kNan, kInfinity, -kInfinity, 0, -0.0, 1, -1e4}}}),
                               2);
  for (int i = 0; i < 3; ++i) CHECK(std::isnan(slope[i]));
  CHECK(Vector(slope.begin() + 3, slope.begin() + 5) == Vector{0.5, 0.5});
  require_close(0.9276705118714867, slope[5], 1e-7, "slope at 1");
  CHECK(slope[6] == 0);
  // relu hands the gradient to elements that were above zero or NaN.
  const Vector dx = numbers(run(*activation_layer({ActivationKind::relu, 6}, Precision::fp32).data_gradient, 1,
                                {{0, {2, 3, 4, 5, 6, kNan}}, {1, relu}}),
                            2);
  CHECK(Vector(dx.begin(), dx.begin() + 5) == Vector{2, 3, 0, 0, 0});
  CHECK(std::isnan(dx[5]));
}

TEST_CASE("dropout keeps half, doubled; backward by the same mask") {
  constexpr std::int64_t count = 100000;
  const LayerKernels layer = activation_layer({ActivationKind::dropout, count}, Precision::fp32);
  const Vector x = draw(count, 4), y = numbers(run(*layer.forward, 1, {{0, x}}, 77), 1);
  const Vector dx = numbers(run(*layer.data_gradient, 1, {{0, Vector(x.size(), 1.0)}}, 77), 1),
               other = numbers(run(*layer.data_gradient, 1, {{0, Vector(x.size(), 1.0)}}, 78), 1);
  double kept = 0, alike = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (y[i] != (dx[i] == 2 ? 2 * x[i] : 0) || (dx[i] != 2 && dx[i] != 0))
      FAIL("element " << i << ": " << x[i] << " became " << y[i] << ", gradient " << dx[i]);
    kept += dx[i] == 2;
    alike += dx[i] == other[i];
  }
  // Binomial with n = 100,000, p = 1/2: deviation √n/2 = 158; five of them but once in 1.7 million.
  INFO(kept << " kept, " << alike << " alike under another seed; expected 50,000 each");
  CHECK(std::abs(kept - 50000) <= 5 * 158.2);
  CHECK(std::abs(alike - 50000) <= 5 * 158.2);
}

TEST_CASE("sum, product and copy of tensors") {
  const std::map<std::size_t, Vector> inputs{{0, {1, -2, 0.5}}, {1, {3, 4, kNan}}};
  for (const auto& part : {add_layer({3}, Precision::fp32).forward, add_layer({3}, Precision::fp32).data_gradient}) {
    const Vector sum = numbers(run(*part, 1, inputs), 2);
    CHECK(sum[0] == 4);
    CHECK(sum[1] == 2);
    CHECK(std::isnan(sum[2]));
  }
  const LayerKernels multiply = multiply_layer({2}, Precision::fp32);
  CHECK(numbers(run(*multiply.forward, 1, {{0, {3, -2}}, {1, {5, 7}}}), 2) == Vector{15, -14});
  const Workspace back = run(*multiply.data_gradient, 1, {{0, {2, 10}}, {1, {3, -2}}, {2, {5, 7}}});
  CHECK(numbers(back, 3) == Vector{10, 70});  // dy·b
  CHECK(numbers(back, 4) == Vector{6, -20});  // dy·a
  for (const auto& part :
       {concat_layer({3}, Precision::fp32).forward, concat_layer({3}, Precision::fp32).data_gradient})
    CHECK(numbers(run(*part, 1, {{0, {1, -0.25, 7}}}), 1) == Vector{1, -0.25, 7});
}

TEST_CASE("batch norm: PyTorch's formula and its gradients") {
  for (const auto& [shape, n] : {std::pair{BatchNormShape{3, 2, 3}, 4}, std::pair{BatchNormShape{2, 5, 1}, 1},
                                 std::pair{BatchNormShape{4, 1, 1}, 6}}) {
    const std::size_t channels = size(shape.channels), area = size(shape.height * shape.width);
    const auto channel = [=](std::size_t i) { return i / area % channels; };
    check_norm(batch_norm_layer(shape, Precision::fp32), n, channels, {channels, channel, channel});
  }
}

TEST_CASE("layer norm: PyTorch's formula and its gradients") {
  for (const auto& [shape, n] :
       {std::pair{LayerNormShape{7, 3}, 2}, std::pair{LayerNormShape{16, 1}, 1}, std::pair{LayerNormShape{3, 5}, 3}}) {
    const std::size_t width = size(shape.width), rows = size(shape.rows * n);
    check_norm(layer_norm_layer(shape, Precision::fp32), n, width,
               {rows, [=](std::size_t i) { return i / width; }, [=](std::size_t i) { return i % width; }});
  }
}

TEST_CASE("batch norm's output has mean 0 and variance v/(v + ε)") {
  const LayerKernels layer = batch_norm_layer({3, 16, 16}, Precision::fp32);
  Vector x = draw(3 * 256 * 4, 9);
  for (double& value : x) value = 5 + 3 * value;  // v = 9 or so: ε takes 1e-6 of 1
  const Vector y = numbers(run(*layer.forward, 4, {{0, x}, {1, {1, 1, 1}}, {2, {0, 0, 0}}}), 3);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (i / 256 % 3 != channel) continue;
      sum += y[i];
      squares += y[i] * y[i];
    }
    CHECK(std::abs(sum / 1024) <= 1e-6);
    require_close(1, squares / 1024, 3e-6, "variance");
  }
}

TEST_CASE("norms of constant input and of input that is no number") {
  // x = {1, 3}: mean 2, variance 1 (over the batch of two), so 1/sqrt(1.00001); channel two is constant.
  const Workspace two =
      run(*batch_norm_layer({2, 1, 1}, Precision::fp32).forward, 2, {{0, {1, 7, 3, 7}}, {1, {2, 2}}, {2, {10, 20}}});
  CHECK(numbers(two, 4) == Vector{2, 7});
  require_close(1 / std::sqrt(1.00001), numbers(two, 5)[0], 1e-7, "inverse deviation");
  require_close(1 / std::sqrt(1e-5), numbers(two, 5)[1], 1e-6, "of a constant");
  require_near({10 - 2 / std::sqrt(1.00001), 20, 10 + 2 / std::sqrt(1.00001), 20}, numbers(two, 3), kFloat, "y");
  CHECK(numbers(two, 3)[1] == 20);
  for (const double odd : {kNan, kInfinity, -kInfinity}) {
    const Workspace channels = run(*batch_norm_layer({2, 1, 2}, Precision::fp32).forward, 1, {{0, {1, odd, 2, 4}}});
    const Workspace rows = run(*layer_norm_layer({2, 2}, Precision::fp32).forward, 1, {{0, {1, odd, 2, 4}}});
    for (const Workspace* w : {&channels, &rows}) {
      for (const std::size_t buffer : {4, 5}) {
        CHECK(std::isnan(numbers(*w, buffer)[0]));
        CHECK(std::isfinite(numbers(*w, buffer)[1]));
      }
      CHECK(std::isnan(numbers(*w, 3)[0]));
      CHECK(std::isnan(numbers(*w, 3)[1]));
      CHECK(std::isfinite(numbers(*w, 3)[2]));
    }
  }
}

TEST_CASE("pools: every window, and their gradients") {
  property(
      "as an own walk over the padded input has it",
      [] {
        const PoolShape shape = random_pool(coin());
        const LayerKernels layer = pool_layer(shape, Precision::fp32);
        const int n = integer_between(1, 2);
        const auto seed = static_cast<std::uint64_t>(integer_between(0, 1000));
        const Workspace forward = run(*layer.forward, n, {}, seed);
        const Vector x = numbers(forward, 0), y = numbers(forward, 1), expected = pool_oracle(shape, x);
        RC_ASSERT(y.size() == expected.size());
        for (std::size_t i = 0; i < y.size(); ++i) RC_ASSERT(std::abs(y[i] - expected[i]) <= kFloat);
        // Elements are some 1e-5 apart or more in all but few draws of at most 500: no difference crosses a tie.
        const Vector dy = draw(static_cast<std::int64_t>(y.size()), seed + 1);
        const Vector slopes = difference_quotients([&](const Vector& v) { return dot(dy, pool_oracle(shape, v)); }, x);
        const Vector dx = shape.average ? numbers(run(*layer.data_gradient, n, {{0, dy}}), 1)
                                        : numbers(run(*layer.data_gradient, n, {{0, dy}, {1, numbers(forward, 2)}}), 2);
        std::size_t apart = 0;
        for (std::size_t i = 0; i < dx.size(); ++i) apart += !(std::abs(dx[i] - slopes[i]) <= 1e-5);
        RC_ASSERT(apart <= (shape.average ? 0U : 2U));
      },
      60);
}

TEST_CASE("average pool: backward is forward's transpose") {
  property(
      "<dy, A x> = <Aᵀ dy, x>",
      [] {
        const LayerKernels layer = pool_layer(random_pool(true), Precision::fp32);
        const Workspace forward = run(*layer.forward, 2, {}, 3), backward = run(*layer.data_gradient, 2, {}, 4);
        // Sums of up to 500 products of size 1, each rounded to 2^-24.
        RC_ASSERT(std::abs(dot(numbers(backward, 0), numbers(forward, 1)) -
                           dot(numbers(backward, 1), numbers(forward, 0))) <= 1e-4);
      },
      100);
}

TEST_CASE("max pool: the first of equal ones, the first NaN, -∞ alone") {
  const PoolShape shape{false, 1, 2, 2, 2, 0, 0, 2, 8};
  const LayerKernels layer = pool_layer(shape, Precision::fp32);
  const Workspace forward = run(
      *layer.forward, 1,
      {{0,
        {1, 3, 5, kNan, -kInfinity, -kInfinity, 2, kInfinity, 3, 2, kNan, 7, -kInfinity, -kInfinity, kInfinity, 1}}});
  const Vector y = numbers(forward, 1);
  CHECK(y[0] == 3);
  CHECK(std::isnan(y[1]));
  CHECK(y[2] == -kInfinity);
  CHECK(y[3] == kInfinity);
  CHECK(numbers(forward, 2) == Vector{1, 1, 0, 1});
  CHECK(numbers(run(*layer.data_gradient, 1, {{0, {10, 20, 30, 40}}, {1, {1, 1, 0, 1}}}), 2) ==
        Vector{0, 10, 0, 20, 30, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("impossible pools are refused") {
  CHECK_THROWS_AS(pool_layer({false, 1, 2, 2, 1, 2, 0, 5, 5}, Precision::fp32),
                  std::invalid_argument);  // windows of padding alone
  CHECK_THROWS_AS(pool_layer({true, 1, 6, 6, 1, 0, 0, 5, 5}, Precision::fp32), std::invalid_argument);  // no window
  CHECK_THROWS_AS(pool_layer({false, 1, 17, 16, 1, 0, 0, 20, 20}, Precision::fp32),
                  std::invalid_argument);  // 272 places
  CHECK_NOTHROW(pool_layer({true, 1, 17, 16, 1, 0, 0, 20, 20}, Precision::fp32));
}

TEST_CASE("softmax loss") {
  const LayerKernels layer = softmax_loss_layer({2, 1}, Precision::fp32);
  // Logits 0 and ln 3: probabilities 1/4 and 3/4, sum of exponentials 4. Label 1: ln 4 - ln 3; label 0: ln 4.
  const Vector logits{0, std::log(3.0), 0, std::log(3.0)};
  const Workspace forward = run(*layer.forward, 2, {{0, logits}, {1, {1, 0}}});
  require_near({std::log(4.0 / 3), std::log(4.0)}, numbers(forward, 2), kFloat, "losses");
  require_near({std::log(4.0), std::log(4.0)}, numbers(forward, 3), kFloat, "log-sum-exp");
  // (p - [label])/2
  const Workspace backward = run(*layer.data_gradient, 2, {{0, logits}, {1, {1, 0}}, {2, numbers(forward, 3)}});
  require_near({0.125, -0.125, -0.375, 0.375}, numbers(backward, 3), kFloat, "dx");
}

TEST_CASE("softmax loss: differences, rows of the gradient sum to zero") {
  for (const SoftmaxLossShape& shape : {SoftmaxLossShape{5, 3}, SoftmaxLossShape{37, 2}}) {
    const LayerKernels layer = softmax_loss_layer(shape, Precision::fp32);
    const Workspace backward = run(*layer.data_gradient, 2, {}, 8);
    const Vector x = numbers(backward, 0), labels = numbers(backward, 1), dx = numbers(backward, 3);
    require_near(difference_quotients([&](const Vector& v) { return mean_loss(v, labels); }, x), dx, kFloat, "dx");
    const Vector losses = numbers(run(*layer.forward, 2, {{0, x}, {1, labels}}), 2);
    require_close(mean_loss(x, labels),
                  std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size()), kFloat,
                  "mean loss");
    for (std::size_t r = 0; r < labels.size(); ++r) {
      const auto row = dx.begin() + static_cast<std::ptrdiff_t>(r * size(shape.classes));
      CHECK(std::abs(std::accumulate(row, row + shape.classes, 0.0)) <= 1e-6);
    }
  }
}

TEST_CASE("softmax loss of infinities and NaN, and of large logits") {
  const LayerKernels layer = softmax_loss_layer({3, 6}, Precision::fp32);
  const Vector logits{1,          kInfinity,  2,          1,          kNan, 2, -kInfinity, 3,    3,
                      -kInfinity, -kInfinity, -kInfinity, -kInfinity, 3,    3, 1000,       1000, 0};
  const Workspace forward = run(*layer.forward, 1, {{0, logits}, {1, {0, 0, 1, 0, 0, 0}}});
  const Vector losses = numbers(forward, 2), sums = numbers(forward, 3);
  for (const std::size_t row : {0, 1}) {
    CHECK(std::isnan(losses[row]));
    CHECK(std::isnan(sums[row]));
  }
  require_close(std::log(2.0), losses[2], kFloat, "two classes of three alike");
  CHECK(std::isnan(losses[3]));
  CHECK(sums[3] == -kInfinity);
  CHECK(losses[4] == kInfinity);
  require_close(1000 + std::log(2.0), sums[5], 1e-7, "no overflow");
  const Vector dx = numbers(run(*layer.data_gradient, 1, {{0, logits}, {1, {0, 0, 1, 0, 0, 0}}, {2, sums}}), 3);
  for (const std::size_t i : {0, 1, 2, 3, 4, 5, 9, 10, 11}) CHECK(std::isnan(dx[i]));
  require_near({0, -0.5 / 6, 0.5 / 6, -1.0 / 6, 0.5 / 6, 0.5 / 6}, {dx[6], dx[7], dx[8], dx[12], dx[13], dx[14]},
               kFloat, "rows with -∞");
}

TEST_CASE("embedding: rows of the table; backward is forward's transpose") {
  const LayerKernels layer = embedding_layer({4, 2, 3}, Precision::fp32);
  CHECK(numbers(run(*layer.forward, 1, {{0, {1, 2, 3, 4, 5, 6, 7, 8}}, {1, {3, 0, 3}}}), 2) ==
        Vector{7, 8, 1, 2, 7, 8});
  CHECK(numbers(run(*layer.weight_gradient, 1, {{0, {1, 10, 2, 20, 4, 40}}, {1, {3, 0, 3}}}), 2) ==
        Vector{2, 20, 0, 0, 0, 0, 5, 50});
  property(
      "<dy, E table> = <Eᵀ dy, table>",
      [] {
        const EmbeddingShape shape{integer_between(1, 20), integer_between(1, 9), integer_between(1, 15)};
        const LayerKernels random = embedding_layer(shape, Precision::fp32);
        const auto seed = static_cast<std::uint64_t>(integer_between(0, 1000));
        const Workspace forward = run(*random.forward, 2, {}, seed);
        const Workspace backward = run(*random.weight_gradient, 2, {{1, numbers(forward, 1)}}, seed + 1);
        RC_ASSERT(std::abs(dot(numbers(backward, 0), numbers(forward, 2)) -
                           dot(numbers(backward, 2), numbers(forward, 0))) <= 1e-4);
      },
      100);
}

TEST_CASE("SGD with momentum: two steps") {
  // μ = 0.9, η = 0.1, w = 1, v = 0, and g = 1 twice: first v = 1, w = 0.9; then v = 1.9, w = 0.71.
  const Kernel kernel = sgd_momentum_update(Precision::fp32);
  const Workspace one = run(kernel, 1, {{0, {1}}, {1, {1}}, {2, {0}}});
  require_close(0.9, numbers(one, 1)[0], 1e-7, "w");
  require_close(1, numbers(one, 2)[0], 1e-7, "v");
  const Workspace two = run(kernel, 1, {{0, {1}}, {1, numbers(one, 1)}, {2, numbers(one, 2)}});
  require_close(0.71, numbers(two, 1)[0], 2e-7, "w");
  require_close(1.9, numbers(two, 2)[0], 1e-7, "v");
}

TEST_CASE("Adam: two steps") {
  // From m = v = 0 with g = 2: m̂ = 2, v̂ = 4, so w falls by 0.001·2/(2 + 1e-8). Then with g = 1: m = 0.9·0.2 + 0.1 =
  // 0.28, m̂ = 0.28/(1 - 0.81). v = 0.999·0.004 + 0.001 = 0.004996, v̂ = 0.004996/(1 - 0.998001) = 2.49925, √v̂ =
  // 1.580902. 1 - β₂ has 24 - 10 bits of float left, so v is within 2^-15, and w's steps are within 2^-15 of 0.001.
  Kernel kernel = adam_update(Precision::fp32);
  kernel.parameters = {1};
  const Workspace one = run(kernel, 1, {{0, {2}}, {1, {1}}, {2, {0}}, {3, {0}}});
  require_close(0.999, numbers(one, 1)[0], 2e-7, "w");
  require_close(0.2, numbers(one, 2)[0], 1e-6, "m");
  require_close(0.004, numbers(one, 3)[0], 4e-5, "v");
  kernel.parameters = {2};
  const Workspace two = run(kernel, 1, {{0, {1}}, {1, numbers(one, 1)}, {2, numbers(one, 2)}, {3, numbers(one, 3)}});
  require_close(0.28, numbers(two, 2)[0], 1e-6, "m");
  require_close(0.004996, numbers(two, 3)[0], 4e-5, "v");
  require_close(0.999 - 0.001 * (0.28 / 0.19) / std::sqrt(0.004996 / 0.001999), numbers(two, 1)[0], 2e-7, "w");
}

TEST_CASE("updates with bf16 gradients keep a rounded copy of the weights") {
  for (const auto& [kernel, copy] : {std::pair{sgd_momentum_update(Precision::bf16), std::size_t{3}},
                                     std::pair{adam_update(Precision::bf16), std::size_t{4}}}) {
    const Workspace w = run(kernel, 513, {});
    const Vector weights = numbers(w, 1), copies = numbers(w, copy);
    REQUIRE(copies.size() == weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      CHECK(std::abs(copies[i] - weights[i]) <= std::abs(weights[i]) / 256);
    CHECK(copies != weights);
  }
}

TEST_CASE("tf32 is fp32 where nothing is multiplied by matrices") {
  CHECK(batch_norm_layer({1, 1, 1}, Precision::tf32).forward->method == "fp32");
  CHECK(activation_layer({ActivationKind::gelu, 1}, Precision::tf32).data_gradient->name() ==
        "gelu-data_gradient/fp32");
  CHECK(sgd_momentum_update(Precision::bf16).name() == "sgd_momentum-update/bf16");
}

TEST_CASE("bf16 kernels are the fp32 ones of the same numbers, rounded") {
  std::map<std::string, Kernel> floats;
  const auto key = [](const Kernel& kernel) {
    std::string text = kernel.role;
    for (const std::int64_t parameter : kernel.parameters) text.append(" ").append(std::to_string(parameter));
    return text;
  };
  std::size_t compared = 0;
  for (const Kernel& kernel : block_layer_kernels()) {
    if (kernel.method == "fp32") floats.emplace(key(kernel), kernel);
    const auto other = floats.find(key(kernel));
    if (kernel.method != "bf16" || other == floats.end()) continue;
    Workspace narrow(kernel, 2, Input::normal, 6), wide(other->second, 2, Input::normal, 6);
    for (std::size_t i = 0; i < wide.buffers().size(); ++i) set(wide, i, numbers(narrow, i));
    kernel.reference(narrow.call());
    other->second.reference(wide.call());
    for (std::size_t i = 0; i < wide.buffers().size(); ++i) {
      const Vector a = numbers(wide, i), b = numbers(narrow, i);
      for (std::size_t j = 0; j < a.size(); ++j) {
        const double allowed = narrow.buffers()[i].element == Element::bf16 ? std::abs(a[j]) / 256 + 0x1p-126 : 0;
        if (!(std::abs(a[j] - b[j]) <= allowed))
          FAIL(kernel.described() << ", " << narrow.buffers()[i].name << "[" << j << "]: fp32 " << a[j] << ", bf16 "
                                  << b[j]);
      }
    }
    ++compared;
  }
  CHECK(2 * compared == block_layer_kernels().size());
}

TEST_CASE(
    "every layer's reference is total: any input, any batch, the same twice, nothing written beside the outputs") {
  for (const Kernel& kernel : block_layer_kernels())
    for (const std::int64_t n : {1, 2, 3, 7})
      for (const Input input : kInputs) {
        Workspace a(kernel, n, input, 8), b(kernel, n, input, 8), before(kernel, n, input, 8);
        kernel.reference(a.call());
        kernel.reference(b.call());
        for (std::size_t i = 0; i < a.buffers().size(); ++i) {
          Buffer exact = a.buffers()[i];
          exact.tolerance = exact.entry_tolerance = exact.absolute_tolerance = 0;
          const auto wrong = difference(exact, a.data(i), b.data(i));
          if (wrong) FAIL(kernel.described() << ": " << *wrong);
          if (!exact.written && std::memcmp(a.data(i), before.data(i), a.bytes(i)) != 0)
            FAIL(kernel.described() << " writes its input " << exact.name);
        }
      }
}

TEST_CASE("layers on small shapes: no two entries alike") {
  std::map<std::string, int> seen;
  for (const Kernel& kernel : block_layer_kernels()) CHECK(++seen[kernel.described()] == 1);
  CHECK(seen.size() > 100);
}

TEST_CASE("a difference beyond a buffer's tolerance is found") {
  const float a[] = {1, 100}, b[] = {1.05F, 100}, c[] = {1.0005F, 100}, tiny[] = {0x1p-149F, 0},
              twice[] = {0x1p-148F, 0}, none[] = {0, 0}, infinite[] = {1, std::numeric_limits<float>::infinity()};
  const Buffer entry{"x", Element::f32, 2, Fill::zero, true, 0, 1e-3},
      absolute{"x", Element::f32, 2, Fill::zero, true, 0, 0, 0.06};
  CHECK(difference(entry, a, b));  // 0.05 of 1, however large the other
  CHECK_FALSE(difference(entry, a, c));
  CHECK_FALSE(difference(absolute, a, b));
  CHECK_FALSE(difference(entry, tiny, none));  // one least denormal
  CHECK(difference(entry, none, twice));
  CHECK(difference(entry, infinite, a));
  CHECK(difference(entry, a, infinite));
}

TEST_CASE("layers move the bytes and do the operations of the models") {
  using stepcast::Dtype;
  struct Case {
    LayerShape shape;
    std::function<LayerKernels(Precision)> layer;
    /// Our bytes less the models' of forward and backward, for elements of e bytes.
    std::function<std::pair<double, double>(double)> beside = [](double) { return std::pair{0.0, 0.0}; };
  };
  constexpr int batch = 4;
  const auto activation = [](stepcast::ActivationFunction function, ActivationKind kind) {
    return Case{stepcast::Activation{function, 1000}, [=](Precision p) { return activation_layer({kind, 1000}, p); }};
  };
  std::vector<Case> cases{activation(stepcast::ActivationFunction::relu, ActivationKind::relu),
                          activation(stepcast::ActivationFunction::gelu, ActivationKind::gelu),
                          activation(stepcast::ActivationFunction::tanh, ActivationKind::tanh),
                          activation(stepcast::ActivationFunction::sigmoid, ActivationKind::sigmoid),
                          activation(stepcast::ActivationFunction::silu, ActivationKind::silu)};
  // The models read a mask of the elements' type; ours is drawn again.
  cases.push_back(activation(stepcast::ActivationFunction::dropout, ActivationKind::dropout));
  cases.back().beside = [](double e) { return std::pair{0.0, -e * 1000 * batch}; };
  cases.push_back({stepcast::Add{1000}, [](Precision p) { return add_layer({1000}, p); }});
  cases.push_back({stepcast::Concat{1000}, [](Precision p) { return concat_layer({1000}, p); }});
  // The models have two kernels that read dy each, as PyTorch; ours is one.
  cases.push_back({stepcast::Multiply{1000}, [](Precision p) { return multiply_layer({1000}, p); },
                   [](double e) {
                     return std::pair{0.0, -e * 1000 * batch};
                   }});
  // The models count no vectors of a norm: scale and bias (backward scale and both gradients), and mean and inverse
  // deviation of 4 bytes each.
  cases.push_back({stepcast::BatchNorm{.channels = 8, .input = {6, 5}},
                   [](Precision p) {
                     return batch_norm_layer({8, 6, 5}, p);
                   },
                   [](double e) {
                     return std::pair{8 * (2 * e + 8), 8 * (3 * e + 8)};
                   }});
  // Layer norm likewise; and the models read its input twice forward, where a row stays in cache.
  cases.push_back({stepcast::LayerNorm{.width = 32, .rows = 10},
                   [](Precision p) {
                     return layer_norm_layer({32, 10}, p);
                   },
                   [](double e) {
                     return std::pair{32 * 2 * e + 8.0 * 10 * batch - e * 320 * batch, 32 * 3 * e + 8.0 * 10 * batch};
                   }});
  // 3 channels of 8 x 8 by 2 x 2: 48 outputs a sample. Forward writes a place of a byte each; backward the models read
  // another element an output, ours the place, and of an average nothing.
  for (const bool average : {false, true})
    cases.push_back({stepcast::Pool{.function = average ? stepcast::PoolFunction::average : stepcast::PoolFunction::max,
                                    .channels = 3,
                                    .kernel = {2, 2},
                                    .stride = 2,
                                    .input = {8, 8}},
                     [=](Precision p) {
                       return pool_layer({average, 3, 2, 2, 2, 0, 0, 8, 8}, p);
                     },
                     [=](double e) {
                       return std::pair{average ? 0.0 : 48.0 * batch, (average ? 0.0 : 48.0 * batch) - e * 48 * batch};
                     }});
  // The models write log-probabilities in the forward pass; ours writes a loss and a sum of 4 bytes a row. Ours also
  // reads labels of 4 bytes, and in the backward pass the sum and the label.
  cases.push_back({stepcast::SoftmaxLoss{.classes = 100, .rows = 3},
                   [](Precision p) {
                     return softmax_loss_layer({100, 3}, p);
                   },
                   [](double e) {
                     return std::pair{12.0 * 3 * batch - e * 300 * batch, 8.0 * 3 * batch};
                   }});
  // Indices of 4 bytes.
  cases.push_back({stepcast::Embedding{.entries = 50, .width = 16, .rows = 7},
                   [](Precision p) {
                     return embedding_layer({50, 16, 7}, p);
                   },
                   [](double) {
                     return std::pair{4.0 * 7 * batch, 4.0 * 7 * batch};
                   }});

  for (const auto& [precision, dtype] :
       {std::pair{Precision::fp32, Dtype::fp32}, std::pair{Precision::bf16, Dtype::bf16}})
    for (const Case& c : cases) {
      const stepcast::LayerWork work = work_of(c.shape, batch, dtype);
      const LayerKernels layer = c.layer(precision);
      const Kernel& backward = layer.data_gradient ? *layer.data_gradient : *layer.weight_gradient;
      const stepcast::KernelWork& backward_work = layer.data_gradient ? work.data_gradient : work.weight_gradient;
      const auto [forward_beside, backward_beside] = c.beside(dtype == Dtype::fp32 ? 4 : 2);
      require_close(work.forward.flops.si(), layer.forward->flops(batch), 1e-12,
                    layer.forward->name() + ": operations");
      require_close(work.forward.bytes.si() + forward_beside, layer.forward->bytes(batch), 1e-12,
                    layer.forward->name() + ": bytes");
      require_close(backward_work.flops.si(), backward.flops(batch), 1e-12, backward.name() + ": operations");
      require_close(backward_work.bytes.si() + backward_beside, backward.bytes(batch), 1e-12,
                    backward.name() + ": bytes");
    }
  for (const auto& [precision, dtype] :
       {std::pair{Precision::fp32, Dtype::fp32}, std::pair{Precision::bf16, Dtype::bf16}})
    for (const auto& [kernel, optimizer] : {std::pair{sgd_update(precision), stepcast::Optimizer::sgd},
                                            std::pair{sgd_momentum_update(precision), stepcast::Optimizer::momentum},
                                            std::pair{adam_update(precision), stepcast::Optimizer::adam}}) {
      const stepcast::KernelWork work = stepcast::update_work(1000, 1, optimizer, dtype);
      require_close(work.flops.si(), kernel.flops(1000), 1e-12, kernel.name() + ": operations");
      require_close(work.bytes.si(), kernel.bytes(1000), 1e-12, kernel.name() + ": bytes");
      CHECK(stepcast::update_kernel(optimizer, dtype) == kernel.name());
    }
  CHECK(stepcast::update_kernel(stepcast::Optimizer::momentum, Dtype::tf32) ==
        sgd_momentum_update(Precision::tf32).name());
}
