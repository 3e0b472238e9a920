// The product layers' tolerances at the lengths of networks. Products are made here as a GPU may make them. Operands
// are cut to tf32; sums in fp32 are cut off or in another order; partial sums and columns are rounded to bf16. All are
// within the tolerances. A sum with one product too few, or with a wrong pair, is not.
#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/check_shape.hpp"
#include "kernels/code/bfloat.hpp"
#include "kernels/products.hpp"
#include "kernels/workspace.hpp"
#include "tests/support/catch.hpp"

using namespace stepcast::kernels;

namespace {

using Values = std::vector<double>;

double bfloat(double x) { return static_cast<double>(float_of_bfloat(bfloat_bits(static_cast<float>(x)))); }
/// Rounds towards zero, to a mantissa of this many bits.
double cut(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, bits + 1)), exponent - bits - 1);
}

double stored(Precision precision, double x) {
  return precision == Precision::bf16 ? bfloat(x) : static_cast<double>(static_cast<float>(x));
}
double operand(Precision precision, double x) { return precision == Precision::tf32 ? cut(x, 10) : x; }

/// Σ a(k) b(k) for begin <= k < end: fp32 from the end and rounded; others in fours and cut off, as tensor cores do.
double partial_sum(Precision precision, std::int64_t begin, std::int64_t end,
                   const std::function<double(std::int64_t)>& a, const std::function<double(std::int64_t)>& b) {
  if (precision == Precision::fp32) {
    float sum = 0;
    for (std::int64_t k = end; k-- > begin;) sum += static_cast<float>(a(k)) * static_cast<float>(b(k));
    return static_cast<double>(sum);
  }
  double sum = 0;
  for (std::int64_t k = begin; k < end; k += 4) {
    double four = 0;
    for (std::int64_t j = k; j < std::min(end, k + 4); ++j) four += operand(precision, a(j)) * operand(precision, b(j));
    sum = cut(sum + four, 23);
  }
  return sum;
}

/// The whole sum; for bf16 in eight parts, which are rounded and added, with a rounding each time.
double device_sum(Precision precision, std::int64_t terms, const std::function<double(std::int64_t)>& a,
                  const std::function<double(std::int64_t)>& b) {
  if (precision != Precision::bf16 || terms < 64) return partial_sum(precision, 0, terms, a, b);
  double sum = 0;
  for (std::int64_t part = 0; part < 8; ++part)
    sum = bfloat(sum + bfloat(partial_sum(precision, part * terms / 8, (part + 1) * terms / 8, a, b)));
  return sum;
}

Values read(const Workspace& workspace, std::size_t buffer) {
  const Buffer& b = workspace.buffers()[buffer];
  Values x(b.count);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = b.element == Element::bf16
               ? static_cast<double>(float_of_bfloat(static_cast<const std::uint16_t*>(workspace.data(buffer))[i]))
               : static_cast<double>(static_cast<const float*>(workspace.data(buffer))[i]);
  return x;
}

/// Whether `got` is within the buffer's tolerance of the reference's result, which the workspace holds.
bool passes(const Workspace& reference, std::size_t buffer, const Values& got) {
  const Buffer& b = reference.buffers()[buffer];
  REQUIRE(static_cast<std::int64_t>(got.size()) == b.count);
  std::vector<std::uint16_t> narrow(got.size());
  std::vector<float> wide(got.size());
  std::transform(got.begin(), got.end(), wide.begin(), [](double x) { return static_cast<float>(x); });
  std::transform(wide.begin(), wide.end(), narrow.begin(), bfloat_bits);
  const auto wrong = difference(b, reference.data(buffer),
                                b.element == Element::bf16 ? static_cast<const void*>(narrow.data()) : wide.data());
  if (wrong) UNSCOPED_INFO(*wrong);
  return !wrong;
}

enum class Mistake { none, dropped, swapped };

/// y = u x of a linear layer as a device makes it; the last product left out, or the first two of x exchanged.
Values linear(Precision precision, const LinearShape& s, const Values& x, const Values& u,
              Mistake mistake = Mistake::none) {
  Values y;
  for (std::int64_t row = 0; row < s.rows; ++row)
    for (std::int64_t out = 0; out < s.out; ++out) {
      const auto at = [&](std::int64_t k) {
        return static_cast<std::size_t>(row * s.in + (mistake == Mistake::swapped && k < 2 ? 1 - k : k));
      };
      y.push_back(stored(
          precision, device_sum(
                         precision, s.in - (mistake == Mistake::dropped ? 1 : 0),
                         [&](std::int64_t k) { return x[at(k)]; }, [&](std::int64_t k) { return u[out * s.in + k]; })));
    }
  return y;
}

Workspace reference_of(const Kernel& kernel, Input input, std::uint64_t seed) {
  Workspace workspace(kernel, 1, input, seed);
  kernel.reference(workspace.call());
  return workspace;
}

constexpr std::int64_t kLengths[] = {1, 7, 64, 576, 1152, 4608, 25088};  // 25,088: VGG's first linear layer

}  // namespace

TEST_CASE("a product of any length as a GPU makes it passes, and with a mistake it does not") {
  for (const Precision precision : kPrecisions)
    for (const std::int64_t length : kLengths) {
      const LinearShape shape{.in = length, .out = 37, .rows = 16};  // enough for all columns of ±1 to differ
      const Kernel kernel = *linear_layer(shape, precision).forward;
      INFO(kernel.described());
      for (const Input input : {Input::normal, Input::whole}) {
        INFO(name_of(input));
        const Workspace reference = reference_of(kernel, input, static_cast<std::uint64_t>(length));
        const Values x = read(reference, ProductForward::x), u = read(reference, ProductForward::u);
        CHECK(passes(reference, ProductForward::y, linear(precision, shape, x, u)));
        // With 25,088 random numbers in bf16 one product is less than the allowed rounding; whole numbers find it.
        if (input == Input::normal && precision == Precision::bf16 && length > 4608) continue;
        CHECK_FALSE(passes(reference, ProductForward::y, linear(precision, shape, x, u, Mistake::dropped)));
        if (length > 1)
          CHECK_FALSE(passes(reference, ProductForward::y, linear(precision, shape, x, u, Mistake::swapped)));
      }
    }
}

TEST_CASE("a single entry, small by chance, passes too") {
  for (const Precision precision : kPrecisions) {
    const LinearShape shape{.in = 300, .out = 1, .rows = 1};
    const Kernel kernel = *linear_layer(shape, precision).forward;
    double least = 1e9;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const Workspace reference = reference_of(kernel, Input::normal, seed);
      INFO(kernel.described() << ", seed " << seed);
      CHECK(passes(reference, ProductForward::y,
                   linear(precision, shape, read(reference, ProductForward::x), read(reference, ProductForward::u))));
      least = std::min(least, std::abs(read(reference, ProductForward::y)[0]));
    }
    CHECK(least < 0.01 * std::sqrt(300.0));  // so small some were
  }
}

TEST_CASE("two products in a row pass, the first one stored") {
  for (const Precision precision : kPrecisions)
    for (const std::int64_t length : {64, 4608}) {
      const LinearShape shape{.in = length, .out = 61, .rows = 5, .rank = length / 4};
      const Kernel kernel = *linear_layer(shape, precision).forward;
      const Workspace reference = reference_of(kernel, Input::normal, 3);
      INFO(kernel.described());
      const LinearShape first{.in = length, .out = shape.rank, .rows = 5},
          second{.in = shape.rank, .out = 61, .rows = 5};
      const Values t = linear(precision, first, read(reference, ProductForward::x), read(reference, ProductForward::u)),
                   v = read(reference, ProductForward::v);
      CHECK(passes(reference, ProductForward::t, t));
      CHECK(passes(reference, ProductForward::y, linear(precision, second, t, v)));
      CHECK_FALSE(passes(reference, ProductForward::y, linear(precision, second, t, v, Mistake::dropped)));
      CHECK_FALSE(passes(reference, ProductForward::y, linear(precision, second, t, v, Mistake::swapped)));
    }
}

TEST_CASE("a convolution's data gradient by columns passes, and without its last channel it does not") {
  // dx[c][row][column] = Σ over taps of columns[c][tap][pixel], these Σ over o of w[o][c][tap] dy[o][pixel], and
  // stored.
  const Conv2dShape s{.in = 12,
                      .out = 512,
                      .kernel_height = 3,
                      .kernel_width = 3,
                      .stride = 1,
                      .padding_height = 1,
                      .padding_width = 1,
                      .groups = 1,
                      .height = 7,
                      .width = 7};
  for (const Precision precision : kPrecisions) {
    const Kernel kernel = *conv2d_layer(s, precision).data_gradient;
    for (const Input input : {Input::normal, Input::whole}) {
      const Workspace reference = reference_of(kernel, input, 4);
      const Values dy = read(reference, ProductDataGradient::dy), w = read(reference, ProductDataGradient::u);
      for (const std::int64_t channels : {s.out, s.out - 1}) {
        Values dx(s.in * 49);
        for (std::int64_t c = 0; c < s.in; ++c)
          for (std::int64_t tap = 0; tap < 9; ++tap)
            for (std::int64_t pixel = 0; pixel < 49; ++pixel) {
              const std::int64_t row = pixel / 7 + tap / 3 - 1, column = pixel % 7 + tap % 3 - 1;
              if (row < 0 || row > 6 || column < 0 || column > 6) continue;
              double& sum = dx[c * 49 + row * 7 + column];
              sum = static_cast<double>(static_cast<float>(
                  sum + stored(precision,
                               device_sum(
                                   precision, channels, [&](std::int64_t o) { return w[(o * s.in + c) * 9 + tap]; },
                                   [&](std::int64_t o) { return dy[o * 49 + pixel]; }))));
            }
        INFO(kernel.described() << ", " << name_of(input) << ", " << channels << " channels");
        CHECK(passes(reference, ProductDataGradient::dx, dx) == (channels == s.out));
      }
    }
  }
}

TEST_CASE("chains of products, functions and steps role with all that lies between cut or not rounded") {
  // Harder than a GPU: tf32's operands cut in every entry, bf16's intermediate results not rounded at all.
  const LayerKernels lstms[] = {lstm_layer({.input = 200, .hidden = 200, .steps = 35}, Precision::tf32),
                                lstm_layer({.input = 200, .hidden = 200, .steps = 35}, Precision::bf16),
                                lstm_layer({.input = 200, .hidden = 200, .steps = 35}, Precision::fp32)};
  const LayerKernels attentions[] = {
      attention_layer({.heads = 4, .d = 256, .sequence = 128, .memory = 128}, Precision::tf32),
      attention_layer({.heads = 4, .d = 256, .sequence = 128, .memory = 128}, Precision::bf16),
      attention_layer({.heads = 4, .d = 256, .sequence = 128, .memory = 128}, Precision::fp32)};
  for (const auto& layers : {lstms, attentions})
    for (const int narrow : {0, 1})
      for (std::size_t part = 0; part < layers[0].parts().size(); ++part) {
        const Kernel &kernel = *layers[narrow].parts()[part], &whole = *layers[2].parts()[part];
        const Workspace reference(kernel, 1, Input::normal, 8), other(whole, 1, Input::normal, 8);
        for (std::size_t i = 0; i < reference.buffers().size(); ++i) {
          const Values x = read(reference, i);
          std::transform(x.begin(), x.end(), static_cast<float*>(other.data(i)),
                         [&](double value) { return static_cast<float>(narrow == 0 ? cut(value, 10) : value); });
        }
        kernel.reference(reference.call());
        whole.reference(other.call());
        for (std::size_t i = 0; i < reference.buffers().size(); ++i) {
          INFO(kernel.described() << ", " << reference.buffers()[i].name);
          if (reference.buffers()[i].written) CHECK(passes(reference, i, read(other, i)));
        }
      }
}

TEST_CASE("a check keeps the widths of a layer and little enough of the rest") {
  constexpr double most = 2e9;
  // VGG-16's fourth convolution has 3.7·10^9 operations: 121 of 224 lines have 2·10^9 (and no less than 120).
  const Conv2dShape conv{.in = 64,
                         .out = 64,
                         .kernel_height = 3,
                         .kernel_width = 3,
                         .stride = 1,
                         .padding_height = 1,
                         .padding_width = 1,
                         .groups = 1,
                         .height = 224,
                         .width = 224,
                         .bias = true};
  const LayerKernels layers[] = {
      conv2d_layer(conv, Precision::tf32),
      conv2d_layer(conv, Precision::bf16, ConvolutionPath::cudnn),
      conv2d_layer(conv, Precision::fp32),
      linear_layer({.in = 768, .out = 50257, .rows = 1024}, Precision::bf16),
      lstm_layer({.input = 1500, .hidden = 1500, .steps = 350}, Precision::fp32),
      attention_layer({.heads = 12, .d = 768, .sequence = 1024, .memory = 1024}, Precision::tf32),
      conv_transpose2d_layer(
          {.in = 256, .out = 128, .kernel_height = 2, .kernel_width = 2, .stride = 2, .height = 256, .width = 256},
          Precision::tf32)};
  for (const LayerKernels& layer : layers)
    for (const Kernel* part : layer.parts()) {
      REQUIRE(part->flops(1) > most);
      const auto [kernel, batch] = shape_to_check(*part);
      INFO(part->described() << " becomes " << kernel.described());
      CHECK(batch == 1);
      CHECK(kernel.name() == part->name());
      CHECK(kernel.flops(1) <= 1.001 * most);
      CHECK(kernel.flops(1) > 0.9 * most);
      int changed = 0;
      for (std::size_t i = 0; i < part->parameters.size(); ++i)
        changed += kernel.parameters[i] == part->parameters[i] ? 0 : 1;
      CHECK(changed == 1);
    }
  CHECK(shape_to_check(*layers[0].forward).kernel.parameters[8] == 120);  // 224·2/3.70269... is 120.99
  // Below the limit nothing changes, whatever it is; a channel of fewer than four elements gets more samples.
  for (const Kernel& kernel : layer_kernels()) {
    if (kernel.role.ends_with("-update")) continue;
    const auto [same, batch] = shape_to_check(kernel);
    CHECK(same.described() == kernel.described());
    if (kernel.role.rfind("batch_norm", 0) != 0) CHECK(batch == 1);
  }
  CHECK(shape_to_check(*batch_norm_layer({512, 1, 1}, Precision::fp32).forward).batch == 4);
  CHECK(shape_to_check(*batch_norm_layer({512, 3, 1}, Precision::fp32).forward).batch == 2);
}
