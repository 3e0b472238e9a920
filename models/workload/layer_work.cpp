#include "models/workload/layer_work.hpp"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/workload/sizes.hpp"

namespace stepcast {
namespace {

Extent output_of(const Conv2d& x) { return window_output(x.input, x.kernel, x.stride, x.padding); }
Extent output_of(const Pool& x) { return window_output(x.input, x.kernel, x.stride, x.padding); }
Extent output_of(const ConvTranspose2d& x) { return {x.input[0] * x.stride, x.input[1] * x.stride}; }

// Multiply-accumulates -------------------------------------------------------------------------------------------

/// Multiply-accumulates of an m x n matrix and a vector. With a rank, the matrix is a product of two.
double matrix_macs(double m, double n, std::optional<Count> rank) { return rank ? real(*rank) * (m + n) : m * n; }

double hidden_macs(const Lstm& x) { return 4 * matrix_macs(real(x.hidden), real(x.hidden), x.hidden_rank); }
double input_macs(const Lstm& x) { return 4 * matrix_macs(real(x.hidden), real(x.input), x.input_rank); }

struct WeightMacs {
  double operator()(const Conv2d& x) const {
    return real(x.in / x.groups) * real(x.out) * product(x.kernel) * product(output_of(x));
  }
  double operator()(const ConvTranspose2d& x) const {
    return real(x.in) * real(x.out) * product(x.kernel) * product(x.input);
  }
  double operator()(const Linear& x) const { return real(x.in) * real(x.out) * real(x.rows); }
  double operator()(const Lstm& x) const { return real(x.steps) * (input_macs(x) + hidden_macs(x)); }
  template <class Other>
  double operator()(const Other&) const {
    return 0;
  }
};

double keys_of(const Attention& x) { return real(x.memory.value_or(x.sequence)); }

// Work -----------------------------------------------------------------------------------------------------------

/// The alignment (ProductShape) of matrices with rows of these lengths.
double alignment_of(Count one, Count other) { return real(std::gcd(std::gcd(one, other), Count{16})); }

/// The common kernels of a layer, for `batch` samples, with their operations and elements.
class KernelLister {
 public:
  KernelLister(int batch, Dtype dtype) : batch_(batch), element_(size_of(dtype)) {}

  PassKernels operator()(const Conv2d& x) const {
    const double in = real(x.in) * product(x.input), out = real(x.out) * product(output_of(x));
    const double groups = real(x.groups), window = product(x.kernel), stride = real(x.stride);
    // Each group: an output sums the window's inputs, an input's gradient the window's outputs. With a stride s, 1/s² of
    // these exist. cuDNN's kernels take the time of 1/s of them (fitted to DeepBench on V100, P100 and Titan Xp).
    const double rows = batch_ * product(output_of(x)), pixels = batch_ * product(x.input);
    const double inputs = real(x.in) / groups, outputs = real(x.out) / groups;
    return convolution({rows, outputs, inputs * window, groups}, {pixels, inputs, outputs * window / stride, groups},
                       {outputs, inputs * window, rows, groups}, WeightMacs{}(x), in, out,
                       real(x.in / x.groups) * real(x.out) * window, x.bias);
  }
  PassKernels operator()(const ConvTranspose2d& x) const {
    const double in = real(x.in) * product(x.input), out = real(x.out) * product(output_of(x));
    const double window = product(x.kernel), stride = real(x.stride), pixels = batch_ * product(x.input);
    return convolution({batch_ * product(output_of(x)), real(x.out), real(x.in) * window / stride},
                       {pixels, real(x.in), real(x.out) * window}, {real(x.in), real(x.out) * window, pixels},
                       WeightMacs{}(x), in, out, real(x.in) * real(x.out) * window, x.bias);
  }
  PassKernels operator()(const Linear& x) const {
    const double rows = batch_ * real(x.rows), in = real(x.in), out = real(x.out);
    const double alignment = alignment_of(x.in, x.out);
    const auto shape = [&](double m, double n, double k) { return ProductShape{m, n, k, 1, 1, alignment}; };
    return products(KernelKind::product, shape(rows, out, in), shape(rows, in, out), shape(out, in, rows),
                    WeightMacs{}(x), real(x.in * x.rows), real(x.out * x.rows), in * out, x.bias);
  }

  /// One product computes the input of all steps at once. The hidden state needs a product in each step, which reads
  /// the weights again. Separate gates have separate products. Two kernels in each step do the gates' arithmetic.
  PassKernels operator()(const Lstm& x) const {
    const double h = real(x.hidden), steps = real(x.steps);
    const bool ranks = x.input_rank || x.hidden_rank;
    const double gates = (x.tensors == LstmTensors::gates || ranks ? 4 : 1) * (ranks ? 2 : 1);
    KernelWork forward = work(2 * WeightMacs{}(x), steps * (real(x.input) + 4 * h), gates);
    forward.bytes += element_ * (input_macs(x) + steps * hidden_macs(x));
    forward += work(0, steps * 6 * h, steps * (gates - 1));
    forward += work(steps * 30 * h, steps * 8 * h, steps * 2);
    KernelWork weights = work(2 * WeightMacs{}(x), steps * (real(x.input) + 9 * h), 2 * gates);
    weights.bytes += element_ * (input_macs(x) + hidden_macs(x));
    const LayerKernel pass{KernelKind::recurrent, forward};
    return {{pass}, {pass}, {{KernelKind::recurrent, weights}}};
  }

  PassKernels operator()(const Attention& x) const { return x.fused ? fused(x) : scores_in_memory(x); }

  /// Backward fills the table's dense gradient with zeros, then adds each row to it.
  PassKernels operator()(const Embedding& x) const {
    const double rows = real(x.rows) * real(x.width);
    KernelWork gradient = work(rows, 3 * rows, 1);
    if (x.exchanged) {
      gradient.bytes += element_ * (real(x.entries) * real(x.width));
      gradient.kernels += 1;
    }
    return {{{KernelKind::embedding, work(0, 2 * rows, 1)}}, {}, {{KernelKind::embedding, gradient}}};
  }

  PassKernels operator()(const BatchNorm& x) const {
    return norm(KernelKind::batch_norm, real(x.channels) * product(x.input),
                {real(x.channels), 1, batch_ * product(x.input)});
  }
  PassKernels operator()(const LayerNorm& x) const {
    return x.composed ? composed_norm(x)
                      : norm(KernelKind::norm, real(x.width) * real(x.rows), {batch_ * real(x.rows), 1, real(x.width)});
  }

  PassKernels operator()(const Activation& x) const {
    // y = 0.5 x (1 + tanh(b (x + a x³))). Forward: cube, a product with a, a sum, a product with b, tanh, a sum with 1, a
    // product with 0.5, a product of both factors. Backward: both factors' gradients (6n), tanh's (3n), three products
    // with constants (6n), the cube's (square, a product with 3, a product: 7n), two sums of x's gradients (6n).
    if (x.composed)
      return passes(KernelKind::elementwise, work(17 * real(x.elements), 18 * real(x.elements), 8),
                    work(11 * real(x.elements), 28 * real(x.elements), 11));
    const double n = real(x.elements),
                 operations =
                     x.function == ActivationFunction::relu || x.function == ActivationFunction::dropout ? 1 : 10;
    return passes(KernelKind::elementwise, work(operations * n, 2 * n, 1), work(operations * n, 3 * n, 1));
  }
  PassKernels operator()(const Pool& x) const {
    const double in = real(x.channels) * product(x.input), out = real(x.channels) * product(output_of(x));
    return passes(KernelKind::pool, work(out * product(x.kernel), in + out, 1),
                  work(out * product(x.kernel), in + 2 * out, 1));
  }
  /// Backward passes the gradient of a sum on unchanged. It sums the branches' gradients at the start of the branch.
  PassKernels operator()(const Add& x) const {
    const KernelWork sum = work(real(x.elements), 3 * real(x.elements), 1);
    return passes(KernelKind::elementwise, sum, sum);
  }
  PassKernels operator()(const Multiply& x) const {
    return passes(KernelKind::elementwise, work(real(x.elements), 3 * real(x.elements), 1),
                  work(2 * real(x.elements), 6 * real(x.elements), 2));
  }
  PassKernels operator()(const Rotary& x) const {
    const double n = real(x.elements);
    // Forward, for queries and keys each: multiply by cosines, swap the halves (negate one, concatenate both), multiply
    // by sines, add. Backward: multiply the gradient by cosines and by sines, negate one half, copy each half into
    // zeros, add both, add all.
    if (x.composed) return passes(KernelKind::elementwise, work(3.5 * n, 10 * n, 10), work(4.5 * n, 15 * n, 18));
    return passes(KernelKind::elementwise, work(3 * n, 2 * n, 1), work(3 * n, 2 * n, 1));
  }
  PassKernels operator()(const Concat& x) const {
    const KernelWork copy = work(0, 2 * real(x.elements), 1);
    return passes(KernelKind::elementwise, copy, copy);
  }
  PassKernels operator()(const SoftmaxLoss& x) const {
    const double n = real(x.classes) * real(x.rows);
    return passes(KernelKind::softmax, work(6 * n, 2 * n, 2), work(3 * n, 2 * n, 2));
  }

 private:
  /// `operations` and `elements` are for one sample.
  [[nodiscard]] KernelWork work(double operations, double elements, double count) const {
    return {Flops(operations * batch_), element_ * (elements * batch_), count};
  }

  /// Forward and data gradient of layers without parameters, or whose parameters' gradients come with the input's.
  [[nodiscard]] static PassKernels passes(KernelKind kind, const KernelWork& forward, const KernelWork& gradient) {
    return {{{kind, forward}}, {{kind, gradient}}, {}};
  }

  /// y = W x: forward W x, data gradient Wᵀ dy, weight gradient dy xᵀ. Each has the same number of operations.
  [[nodiscard]] PassKernels products(KernelKind kind, const ProductShape& forward, const ProductShape& data,
                                     const ProductShape& weight, double macs, double in, double out, double weights,
                                     bool bias) const {
    KernelWork one = work(2 * macs, in + out, 1);
    one.bytes += element_ * weights;
    PassKernels all{{{kind, one, forward}}, {{kind, one, data}}, {{kind, one, weight}}};
    if (bias) {
      all.forward.push_back({KernelKind::elementwise, work(out, 2 * out, 1)});
      all.weight_gradient.push_back({KernelKind::elementwise, work(out, out, 1)});
    }
    return all;
  }
  template <class... Counts>
  [[nodiscard]] PassKernels convolution(const ProductShape& forward, const ProductShape& data,
                                        const ProductShape& weight, const Counts&... counts) const {
    return products(KernelKind::convolution, forward, data, weight, counts...);
  }

  /// Scores, scale and softmax, weighted values, with the scores in memory. Backward has two products for each of
  /// forward's two.
  [[nodiscard]] PassKernels scores_in_memory(const Attention& x) const {
    const double macs = attention_macs(x) / 2, queries = queries_of(x), keys = key_elements_of(x),
                 scores = scores_of(x);
    const double positions = real(x.sequence), memory = keys_of(x), width = real(x.d / x.heads),
                 products = batch_ * real(x.heads),
                 alignment = alignment_of(x.memory.value_or(x.sequence), x.d / x.heads);
    const auto product = [&](double elements, double m, double n, double k) {
      return LayerKernel{KernelKind::product, work(2 * macs, elements, 1),
                         ProductShape{m, n, k, products, 1, alignment}};
    };
    const double each = queries + keys + scores;
    PassKernels all;
    all.forward = {product(each, positions, memory, width),
                   {KernelKind::softmax, work(6 * scores, 2 * scores, 1)},
                   product(each, positions, width, memory)};
    // dP = dO·Vᵀ, dV = Pᵀ·dO; dS; dQ = dS·K, dK = dSᵀ·Q. The keys' and values' gradients are summed over a group.
    all.data_gradient = {product(each, positions, memory, width),
                         product(each + keys, memory, width, positions),
                         {KernelKind::softmax, work(6 * scores, 3 * scores, 1)},
                         product(each, positions, width, memory),
                         product(each + keys, memory, width, positions)};
    return all;
  }

  /// FlashAttention (Dao et al. 2022; algorithms 1 and 2 of Dao 2023). Forward reads q, k, v. It writes o and, for each
  /// row and head, the fp32 logarithm of its exponentials' sum. Backward first reads o and do for the product of each
  /// row, one fp32 number. It then reads q, k, v, do and both numbers, computes the scores again and writes dq, dk, dv:
  /// 5 products, against 2 in forward.
  [[nodiscard]] PassKernels fused(const Attention& x) const {
    const double macs = attention_macs(x), queries = queries_of(x), keys = key_elements_of(x), scores = scores_of(x);
    const Bytes statistic = 4_B * (real(x.heads) * real(x.sequence) * batch_);
    KernelWork forward = work(2 * macs + 6 * scores, 2 * queries + 2 * keys, 1);
    forward.bytes += statistic;
    KernelWork gradient = work(5 * macs + 6 * scores + 2 * queries, 5 * queries + 4 * keys, 2);
    gradient.bytes += statistic * 3;
    const ProductShape shape{real(x.sequence), keys_of(x), real(x.d / x.heads), batch_ * real(x.heads)};
    return {{{KernelKind::attention, forward, shape}}, {{KernelKind::attention, gradient, shape}}, {}};
  }

  [[nodiscard]] static double queries_of(const Attention& x) { return real(x.sequence) * real(x.d); }
  /// Elements of the keys. The values have as many.
  [[nodiscard]] static double key_elements_of(const Attention& x) {
    return keys_of(x) * real(x.d / x.heads) * real(x.kv_heads.value_or(x.heads));
  }

  /// RMSNorm in simple operations, each with its own reads and writes of n elements. Forward: cast to fp32, square,
  /// mean, product with its inverse root, cast back, product with the weights. Backward has the products (for either
  /// factor), the squares (x to the power 1, times 2, times the spread gradient of the mean) and the casts. It then
  /// adds both gradients of x.
  [[nodiscard]] PassKernels composed_norm(const LayerNorm& x) const {
    const double n = real(x.width) * real(x.rows) * batch_;
    const bool casts = element_ < 4_B;
    const Bytes cast = casts ? element_ + 4_B : 0_B;
    const KernelWork forward{Flops(5 * n), (cast * 2.0 + 4_B * (2 + 1 + 2.0) + element_ * 2.0) * n, casts ? 8.0 : 6.0},
        data{Flops(9 * n), (element_ * 2.0 + cast * 2.0 + 4_B * (2 + 3 + 1 + 1 + 7 + 3.0)) * n, casts ? 14.0 : 12.0},
        weight{Flops(2 * n), element_ * 4.0 * n, 2};
    PassKernels all = passes(KernelKind::elementwise, forward, data);
    all.weight_gradient = {{KernelKind::elementwise, weight}};
    return all;
  }

  /// Forward reads twice (statistics, then values) and writes once. Backward reads two tensors twice and writes one.
  [[nodiscard]] PassKernels norm(KernelKind kind, double n, const ProductShape& shape) const {
    return {{{kind, work(7 * n, 3 * n, 1), shape, 1.0 / 3}}, {{kind, work(12 * n, 5 * n, 1), shape, 2.0 / 5}}, {}};
  }

  double batch_;
  Bytes element_;
};

struct OutputElements {
  double operator()(const Conv2d& x) const { return real(x.out) * product(output_of(x)); }
  double operator()(const ConvTranspose2d& x) const { return real(x.out) * product(output_of(x)); }
  double operator()(const Linear& x) const { return real(x.out) * real(x.rows); }
  double operator()(const Lstm& x) const { return real(x.hidden) * real(x.steps); }
  double operator()(const Attention& x) const { return real(x.d) * real(x.sequence); }
  double operator()(const Embedding& x) const { return real(x.width) * real(x.rows); }
  double operator()(const BatchNorm& x) const { return real(x.channels) * product(x.input); }
  double operator()(const LayerNorm& x) const { return real(x.width) * real(x.rows); }
  double operator()(const Pool& x) const { return real(x.channels) * product(output_of(x)); }
  double operator()(const Rotary& x) const { return real(x.elements) + real(x.passed); }
  double operator()(const SoftmaxLoss&) const { return 1; }
  template <class Elementwise>
  double operator()(const Elementwise& x) const {
    return real(x.elements);
  }
};

struct InputElements {
  double operator()(const Conv2d& x) const { return real(x.in) * product(x.input); }
  double operator()(const ConvTranspose2d& x) const { return real(x.in) * product(x.input); }
  double operator()(const Linear& x) const { return real(x.in) * real(x.rows); }
  double operator()(const Lstm& x) const { return real(x.input) * real(x.steps); }
  double operator()(const Attention&) const { return 0; }
  double operator()(const Embedding&) const { return 0; }
  double operator()(const BatchNorm& x) const { return real(x.channels) * product(x.input); }
  double operator()(const LayerNorm& x) const { return real(x.width) * real(x.rows); }
  double operator()(const Pool& x) const { return real(x.channels) * product(x.input); }
  double operator()(const Rotary& x) const { return real(x.elements); }
  double operator()(const SoftmaxLoss& x) const { return real(x.classes) * real(x.rows); }
  template <class Elementwise>
  double operator()(const Elementwise& x) const {
    return real(x.elements);
  }
};

}  // namespace

Extent window_output(const Extent& input, const Extent& kernel, Count stride, const Extent& padding) {
  Extent output;
  for (std::size_t i = 0; i < 2; ++i) output.push_back((input[i] + 2 * padding[i] - kernel[i]) / stride + 1);
  return output;
}

double weight_macs(const LayerShape& shape) { return std::visit(WeightMacs{}, shape); }

double attention_macs(const LayerShape& shape) {
  const auto* x = std::get_if<Attention>(&shape);
  return x ? 2 * scores_of(*x) * real(x->d / x->heads) : 0;
}

Flops model_flops(const LayerShape& shape) {
  LayerShape whole = shape;
  if (auto* attention = std::get_if<Attention>(&whole)) attention->causal = false;
  constexpr double kProducts = 3;  // forward, gradient of the input, gradient of the weights
  return Flops(kProducts * 2 * (weight_macs(whole) + attention_macs(whole)));
}

double scores_of(const Attention& x) {
  return real(x.heads) * real(x.sequence) * keys_of(x) * (x.fused && x.causal ? 0.5 : 1);
}

bool drops_scores(const LayerShape& shape, const LayerShape& before) {
  const auto* activation = std::get_if<Activation>(&shape);
  const auto* attention = std::get_if<Attention>(&before);
  return activation && activation->function == ActivationFunction::dropout && attention && !attention->fused &&
         real(activation->elements) == scores_of(*attention);
}

double output_elements(const LayerShape& shape) { return std::visit(OutputElements{}, shape); }

double input_elements(const LayerShape& shape) { return std::visit(InputElements{}, shape); }

PassKernels kernels_of(const LayerShape& shape, int batch, Dtype dtype) {
  return std::visit(KernelLister(batch, dtype), shape);
}

KernelWork sum_of(const std::vector<LayerKernel>& kernels) {
  KernelWork sum;
  for (const LayerKernel& kernel : kernels) sum += kernel.work;
  return sum;
}

LayerWork work_of(const LayerShape& shape, int batch, Dtype dtype) {
  const PassKernels kernels = kernels_of(shape, batch, dtype);
  return {sum_of(kernels.forward), sum_of(kernels.data_gradient), sum_of(kernels.weight_gradient)};
}

int states_of(Optimizer optimizer) {
  return optimizer == Optimizer::sgd ? 0 : optimizer == Optimizer::momentum ? 1 : 2;
}

KernelWork update_work(double elements, double tensors, Optimizer optimizer, Dtype dtype) {
  const double states = states_of(optimizer);
  const Bytes copy = size_of(dtype) == 4_B ? 0_B : size_of(dtype);
  return {Flops((2 + 4 * states) * elements), (size_of(dtype) + 8_B * (1 + states) + copy) * elements, tensors};
}

std::string update_kernel(Optimizer optimizer, Dtype dtype) {
  const char* update = "";
  switch (optimizer) {
    case Optimizer::sgd: update = "sgd-update"; break;
    case Optimizer::momentum: update = "sgd_momentum-update"; break;
    case Optimizer::adam: update = "adam-update"; break;
  }
  return fmt::format("{}/{}", update, name_of(dtype == Dtype::tf32 ? Dtype::fp32 : dtype));
}

}  // namespace stepcast
