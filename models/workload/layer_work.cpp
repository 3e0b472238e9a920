#include "models/workload/layer_work.hpp"

#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace stepcast {
namespace {

double product(const Extent& extent) { return static_cast<double>(extent[0]) * static_cast<double>(extent[1]); }
double real(Count count) { return static_cast<double>(count); }

Extent output_of(const Conv2d& x) { return window_output(x.input, x.kernel, x.stride, x.padding); }
Extent output_of(const Pool& x) { return window_output(x.input, x.kernel, x.stride, x.padding); }
Extent output_of(const ConvTranspose2d& x) { return {x.input[0] * x.stride, x.input[1] * x.stride}; }

// Gradient tensors -----------------------------------------------------------------------------------------------

using Tensors = std::vector<GradientTensor>;

void add(Tensors& tensors, std::string name, std::vector<Count> dims) {
  const Count elements = std::accumulate(dims.begin(), dims.end(), Count{1}, std::multiplies<>());
  tensors.push_back({std::move(name), elements, {}, std::move(dims)});
}

struct ListTensors {
  const std::string& name;
  Tensors& tensors;

  void bias(Count n) { add(tensors, name + ".bias", {n}); }
  void weight(std::vector<Count> dims) { add(tensors, name + ".weight", std::move(dims)); }

  void operator()(const Conv2d& x) {
    if (x.bias) bias(x.out);
    weight({x.out, x.in / x.groups, x.kernel[0], x.kernel[1]});
  }
  void operator()(const ConvTranspose2d& x) {
    if (x.bias) bias(x.out);
    weight({x.in, x.out, x.kernel[0], x.kernel[1]});
  }
  void operator()(const Linear& x) {
    if (x.bias) bias(x.out);
    if (!x.tied) weight({x.out, x.in});
  }
  void operator()(const Embedding& x) {
    if (x.exchanged) weight({x.entries, x.width});
  }
  void operator()(const BatchNorm& x) {
    bias(x.channels);
    if (x.scale) weight({x.channels});
  }
  void operator()(const LayerNorm& x) {
    if (x.bias) bias(x.width);
    weight({x.width});
  }
  void operator()(const Lstm& x) {
    const Count h = x.hidden;
    const auto matrix = [&](const std::string& tensor, Count rows, Count columns, std::optional<Count> rank) {
      if (!rank) return add(tensors, name + "." + tensor, {rows, columns});
      add(tensors, name + "." + tensor + ".v", {*rank, columns});
      add(tensors, name + "." + tensor + ".u", {rows, *rank});
    };
    // Pufferfish has one bias for each gate, PyTorch two vectors for all gates, TensorFlow one.
    if (x.tensors == LstmTensors::fused) {
      add(tensors, name + ".bias_hh", {4 * h});
      add(tensors, name + ".bias_ih", {4 * h});
    } else if (x.tensors == LstmTensors::joint) {
      add(tensors, name + ".bias", {4 * h});
    }
    if (x.input_rank || x.hidden_rank || x.tensors == LstmTensors::gates) {
      for (const char* gate : {"o", "g", "f", "i"}) {
        if (x.tensors == LstmTensors::gates) add(tensors, fmt_gate("b_", gate), {h});
        matrix(std::string("W_h") + gate, h, h, x.hidden_rank);
        matrix(std::string("W_i") + gate, h, x.input, x.input_rank);
      }
    } else if (x.tensors == LstmTensors::fused) {
      matrix("weight_hh", 4 * h, h, {});
      matrix("weight_ih", 4 * h, x.input, {});
    } else {
      matrix("kernel", x.input + h, 4 * h, {});
    }
  }
  template <class Other>
  void operator()(const Other&) {}

  [[nodiscard]] std::string fmt_gate(const char* prefix, const char* gate) const { return name + "." + prefix + gate; }
};

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

/// The computed scores of all heads. A fused causal kernel skips the masked half.
double scores_of(const Attention& x) {
  return real(x.heads) * real(x.sequence) * keys_of(x) * (x.fused && x.causal ? 0.5 : 1);
}

// Work -----------------------------------------------------------------------------------------------------------

/// Counts the work of common kernels, in operations and elements, for `batch` samples.
class WorkCounter {
 public:
  WorkCounter(int batch, Dtype dtype) : batch_(batch), element_(size_of(dtype)) {}

  LayerWork operator()(const Conv2d& x) const {
    const double in = real(x.in) * product(x.input), out = real(x.out) * product(output_of(x));
    return product_of(WeightMacs{}(x), in, out, real(x.in / x.groups) * real(x.out) * product(x.kernel), x.bias);
  }
  LayerWork operator()(const ConvTranspose2d& x) const {
    const double in = real(x.in) * product(x.input), out = real(x.out) * product(output_of(x));
    return product_of(WeightMacs{}(x), in, out, real(x.in) * real(x.out) * product(x.kernel), x.bias);
  }
  LayerWork operator()(const Linear& x) const {
    return product_of(WeightMacs{}(x), real(x.in * x.rows), real(x.out * x.rows), real(x.in) * real(x.out), x.bias);
  }

  /// One product computes the input of all steps at once. The hidden state needs a product in each step, which reads
  /// the weights again. Separate gates have separate products. Two kernels in each step do the gates' arithmetic.
  LayerWork operator()(const Lstm& x) const {
    const double h = real(x.hidden), steps = real(x.steps);
    const bool ranks = x.input_rank || x.hidden_rank;
    const double products = (x.tensors == LstmTensors::gates || ranks ? 4 : 1) * (ranks ? 2 : 1);
    LayerWork work;
    work.forward = kernels(2 * WeightMacs{}(x), steps * (real(x.input) + 4 * h), products);
    work.forward.bytes += element_ * (input_macs(x) + steps * hidden_macs(x));
    work.forward += kernels(0, steps * 6 * h, steps * (products - 1));
    work.forward += kernels(steps * 30 * h, steps * 8 * h, steps * 2);
    work.data_gradient = work.forward;
    work.weight_gradient = kernels(2 * WeightMacs{}(x), steps * (real(x.input) + 9 * h), 2 * products);
    work.weight_gradient.bytes += element_ * (input_macs(x) + hidden_macs(x));
    return work;
  }

  LayerWork operator()(const Attention& x) const { return x.fused ? fused(x) : scores_in_memory(x); }

  /// Backward fills the table's dense gradient with zeros, then adds each row to it.
  LayerWork operator()(const Embedding& x) const {
    const double rows = real(x.rows) * real(x.width);
    LayerWork work;
    work.forward = kernels(0, 2 * rows, 1);
    work.weight_gradient = kernels(rows, 3 * rows, 1);
    if (x.exchanged) {
      work.weight_gradient.bytes += element_ * (real(x.entries) * real(x.width));
      work.weight_gradient.kernels += 1;
    }
    return work;
  }

  /// Forward reads twice (statistics, then values) and writes once. Backward reads two tensors twice and writes one.
  LayerWork operator()(const BatchNorm& x) const { return norm(real(x.channels) * product(x.input)); }
  LayerWork operator()(const LayerNorm& x) const {
    return x.composed ? composed_norm(x) : norm(real(x.width) * real(x.rows));
  }

  LayerWork operator()(const Activation& x) const {
    const double n = real(x.elements),
                 operations =
                     x.function == ActivationFunction::relu || x.function == ActivationFunction::dropout ? 1 : 10;
    return {kernels(operations * n, 2 * n, 1), kernels(operations * n, 3 * n, 1), {}};
  }
  LayerWork operator()(const Pool& x) const {
    const double in = real(x.channels) * product(x.input), out = real(x.channels) * product(output_of(x));
    return {kernels(out * product(x.kernel), in + out, 1), kernels(out * product(x.kernel), in + 2 * out, 1), {}};
  }
  /// Backward passes the gradient of a sum on unchanged. It sums the branches' gradients at the start of the branch.
  LayerWork operator()(const Add& x) const {
    return {kernels(real(x.elements), 3 * real(x.elements), 1), kernels(real(x.elements), 3 * real(x.elements), 1), {}};
  }
  LayerWork operator()(const Multiply& x) const {
    return {
        kernels(real(x.elements), 3 * real(x.elements), 1), kernels(2 * real(x.elements), 6 * real(x.elements), 2), {}};
  }
  LayerWork operator()(const Rotary& x) const {
    const double n = real(x.elements);
    // Forward, for queries and keys each: multiply by cosines, swap the halves (negate one, concatenate both), multiply
    // by sines, add. Backward: multiply the gradient by cosines and by sines, negate one half, copy each half into
    // zeros, add both, add all.
    if (x.composed) return {kernels(3.5 * n, 10 * n, 10), kernels(4.5 * n, 15 * n, 18), {}};
    return {kernels(3 * n, 2 * n, 1), kernels(3 * n, 2 * n, 1), {}};
  }
  LayerWork operator()(const Concat& x) const {
    return {kernels(0, 2 * real(x.elements), 1), kernels(0, 2 * real(x.elements), 1), {}};
  }
  LayerWork operator()(const SoftmaxLoss& x) const {
    const double n = real(x.classes) * real(x.rows);
    return {kernels(6 * n, 2 * n, 2), kernels(3 * n, 2 * n, 2), {}};
  }

 private:
  /// `operations` and `elements` are for one sample.
  [[nodiscard]] KernelWork kernels(double operations, double elements, double count) const {
    return {Flops(operations * batch_), element_ * (elements * batch_), count};
  }

  /// y = W x: forward W x, data gradient Wᵀ dy, weight gradient dy xᵀ. Each has the same number of operations.
  [[nodiscard]] LayerWork product_of(double macs, double in, double out, double weights, bool bias) const {
    KernelWork work = kernels(2 * macs, in + out, 1);
    work.bytes += element_ * weights;
    LayerWork all{work, work, work};
    if (bias) {
      all.forward += kernels(out, 2 * out, 1);
      all.weight_gradient += kernels(out, out, 1);
    }
    return all;
  }

  /// Scores, scale and softmax, weighted values, with the scores in memory. Backward has two products for each of
  /// forward's two.
  [[nodiscard]] LayerWork scores_in_memory(const Attention& x) const {
    const double macs = attention_macs(x), queries = queries_of(x), keys = key_elements_of(x), scores = scores_of(x);
    LayerWork work;
    work.forward = kernels(2 * macs + 6 * scores, 2 * queries + 2 * keys + 4 * scores, 3);
    work.data_gradient = kernels(4 * macs + 6 * scores, 4 * queries + 6 * keys + 7 * scores, 5);
    return work;
  }

  /// FlashAttention (Dao et al. 2022; algorithms 1 and 2 of Dao 2023). Forward reads q, k, v. It writes o and, for each
  /// row and head, the fp32 logarithm of its exponentials' sum. Backward first reads o and do for the product of each
  /// row, one fp32 number. It then reads q, k, v, do and both numbers, computes the scores again and writes dq, dk, dv:
  /// 5 products, against 2 in forward.
  [[nodiscard]] LayerWork fused(const Attention& x) const {
    const double macs = attention_macs(x), queries = queries_of(x), keys = key_elements_of(x), scores = scores_of(x);
    const Bytes statistic = 4_B * (real(x.heads) * real(x.sequence) * batch_);
    LayerWork work;
    work.forward = kernels(2 * macs + 6 * scores, 2 * queries + 2 * keys, 1);
    work.forward.bytes += statistic;
    work.data_gradient = kernels(5 * macs + 6 * scores + 2 * queries, 5 * queries + 4 * keys, 2);
    work.data_gradient.bytes += statistic * 3;
    return work;
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
  [[nodiscard]] LayerWork composed_norm(const LayerNorm& x) const {
    const double n = real(x.width) * real(x.rows) * batch_;
    const bool casts = element_ < 4_B;
    const Bytes cast = casts ? element_ + 4_B : 0_B;
    LayerWork work;
    work.forward = {Flops(5 * n), (cast * 2.0 + 4_B * (2 + 1 + 2.0) + element_ * 2.0) * n, casts ? 8.0 : 6.0};
    work.data_gradient = {Flops(9 * n), (element_ * 2.0 + cast * 2.0 + 4_B * (2 + 3 + 1 + 1 + 7 + 3.0)) * n,
                          casts ? 14.0 : 12.0};
    work.weight_gradient = {Flops(2 * n), element_ * 4.0 * n, 2};
    return work;
  }

  [[nodiscard]] LayerWork norm(double n) const { return {kernels(7 * n, 3 * n, 1), kernels(12 * n, 5 * n, 1), {}}; }

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

}  // namespace

Extent window_output(const Extent& input, const Extent& kernel, Count stride, const Extent& padding) {
  Extent output;
  for (std::size_t i = 0; i < 2; ++i) output.push_back((input[i] + 2 * padding[i] - kernel[i]) / stride + 1);
  return output;
}

std::vector<GradientTensor> gradients_of(const Layer& layer) {
  if (!layer.shape) return layer.gradients;
  Tensors tensors;
  std::visit(ListTensors{layer.name, tensors}, *layer.shape);
  return tensors;
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

double output_elements(const LayerShape& shape) { return std::visit(OutputElements{}, shape); }

LayerWork work_of(const LayerShape& shape, int batch, Dtype dtype) {
  return std::visit(WorkCounter(batch, dtype), shape);
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
