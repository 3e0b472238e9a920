#include "calibrate/layer_kernels.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/workload/layer_times.hpp"

namespace stepcast::calibrate {
namespace {

using kernels::LayerKernels;
using kernels::Precision;

kernels::ActivationKind kind_of(ActivationFunction function) {
  switch (function) {
    case ActivationFunction::relu: return kernels::ActivationKind::relu;
    case ActivationFunction::gelu: return kernels::ActivationKind::gelu;
    case ActivationFunction::tanh: return kernels::ActivationKind::tanh;
    case ActivationFunction::sigmoid: return kernels::ActivationKind::sigmoid;
    case ActivationFunction::silu: return kernels::ActivationKind::silu;
    case ActivationFunction::dropout: break;
  }
  return kernels::ActivationKind::dropout;
}

struct ToKernels {
  Precision precision;
  ConvolutionPath path;

  LayerKernels operator()(const Conv2d& x) const {
    return kernels::conv2d_layer({x.in, x.out, x.kernel[0], x.kernel[1], x.stride, x.padding[0], x.padding[1], x.groups,
                                  x.input[0], x.input[1], 0, x.bias},
                                 precision, path);
  }
  LayerKernels operator()(const ConvTranspose2d& x) const {
    return kernels::conv_transpose2d_layer(
        {x.in, x.out, x.kernel[0], x.kernel[1], x.stride, x.input[0], x.input[1], x.bias}, precision);
  }
  LayerKernels operator()(const Linear& x) const {
    return kernels::linear_layer({x.in, x.out, x.rows, 0, x.bias}, precision);
  }
  LayerKernels operator()(const Lstm& x) const {
    return kernels::lstm_layer({x.input, x.hidden, x.steps, x.input_rank.value_or(0), x.hidden_rank.value_or(0)},
                               precision);
  }
  LayerKernels operator()(const Attention& x) const {
    if (x.fused)
      throw std::invalid_argument(
          "no kernel of fused attention is here to measure; give its layers \"fused\": false, a transformer \"fused_attention\": false");
    if (x.kv_heads.value_or(x.heads) != x.heads)
      throw std::invalid_argument(
          "no kernel of attention whose heads share keys and values (kv_heads) is here to measure; leave kv_heads out");
    return kernels::attention_layer({x.heads, x.d, x.sequence, x.memory.value_or(x.sequence)}, precision);
  }
  LayerKernels operator()(const Embedding& x) const {
    return kernels::embedding_layer({x.entries, x.width, x.rows}, precision);
  }
  LayerKernels operator()(const BatchNorm& x) const {
    return kernels::batch_norm_layer({x.channels, x.input[0], x.input[1]}, precision);
  }
  LayerKernels operator()(const LayerNorm& x) const {
    if (x.composed)
      throw std::invalid_argument(
          "no kernels of norms by simple operations are here to measure; leave \"composed\" out");
    return kernels::layer_norm_layer({x.width, x.rows}, precision);
  }
  LayerKernels operator()(const Activation& x) const {
    if (x.composed)
      throw std::invalid_argument(
          "no kernels of GELU by simple operations are here to measure; leave \"composed\" out");
    return kernels::activation_layer({kind_of(x.function), x.elements}, precision);
  }
  LayerKernels operator()(const Pool& x) const {
    return kernels::pool_layer({x.function == PoolFunction::average, x.channels, x.kernel[0], x.kernel[1], x.stride,
                                x.padding[0], x.padding[1], x.input[0], x.input[1]},
                               precision);
  }
  LayerKernels operator()(const Add& x) const { return kernels::add_layer({x.elements}, precision); }
  LayerKernels operator()(const Multiply& x) const { return kernels::multiply_layer({x.elements}, precision); }
  LayerKernels operator()(const Rotary&) const {
    throw std::invalid_argument(
        "no kernel of rotary positions is here to measure; give a transformer \"positions\": true");
  }
  LayerKernels operator()(const Concat& x) const { return kernels::concat_layer({x.elements}, precision); }
  LayerKernels operator()(const SoftmaxLoss& x) const {
    return kernels::softmax_loss_layer({x.classes, x.rows}, precision);
  }
};

}  // namespace

const char* name_of(ConvolutionPath path) {
  switch (path) {
    case ConvolutionPath::im2col: return "im2col and cuBLAS";
    case ConvolutionPath::cudnn: break;
  }
  return "cuDNN";
}

LayerKernels kernels_of(const LayerShape& shape, Precision precision, ConvolutionPath path) {
  return std::visit(ToKernels{precision, path}, shape);
}

Precision precision_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32: return Precision::fp32;
    case Dtype::tf32: return Precision::tf32;
    case Dtype::bf16: return Precision::bf16;
    case Dtype::fp16: break;
  }
  throw std::invalid_argument("no kernel computes in fp16; allowed: fp32, tf32, bf16");
}

kernels::Kernel kernel_of(Optimizer optimizer, Dtype dtype) {
  const Precision precision = precision_of(dtype);
  switch (optimizer) {
    case Optimizer::sgd: return kernels::sgd_update(precision);
    case Optimizer::momentum: return kernels::sgd_momentum_update(precision);
    case Optimizer::adam: break;
  }
  return kernels::adam_update(precision);
}

std::vector<UpdateToMeasure> updates_to_measure() {
  std::vector<UpdateToMeasure> all;
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam})
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
      all.push_back({kernel_of(optimizer, dtype), update_kernel(optimizer, dtype)});
  return all;
}

std::string subject_name(const kernels::Kernel& kernel) { return "layer/" + kernel.described(); }

std::string StepToMeasure::name() const {
  // FNV-1a of all that is run, so that samples of a table that was edited since are not taken for this one's.
  std::uint64_t digest = 0xcbf29ce484222325U;
  const auto add = [&](const std::string& text) {
    for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  for (const LayerKernels& layer : layers)
    for (const kernels::Kernel* part : layer.parts()) add(part->described());
  add(update.described());
  for (const std::int64_t elements : tensors) add(std::to_string(elements));
  return fmt::format("step/{} {} {} {:016x}", table.name, variant, stepcast::name_of(table.dtype), digest);
}

std::vector<LayerToMeasure> layers_to_measure(const std::vector<StepToMeasure>& steps) {
  std::vector<LayerToMeasure> all;
  for (const StepToMeasure& step : steps)
    for (std::size_t i = 0; i < step.layers.size(); ++i) {
      const LayerShape& shape = *step.table.layers[i].shape;
      const bool known = std::any_of(all.begin(), all.end(), [&](const LayerToMeasure& one) {
        return one.batch == step.table.batch && one.dtype == step.table.dtype && same_work(one.shape, shape);
      });
      if (!known) all.push_back({shape, step.table.batch, step.table.dtype, step.layers[i]});
    }
  return all;
}

StepToMeasure step_of(const WorkloadTable& table, ConvolutionPath path) {
  if (compute_dtype_of(table) != table.dtype)
    throw std::invalid_argument(
        "a step whose compute_dtype is not its dtype is not measured; measure one whose dtype and compute_dtype are that type: its layers' times serve both, and updates of all types are measured anyway");
  StepToMeasure step;
  step.variant = table.variant && !table.variant->name.empty() ? table.variant->name : "vanilla";
  step.table = list_gradients(table);
  step.path = path;
  const Precision precision = precision_of(table.dtype);
  for (const Layer& layer : step.table.layers) {
    step.layers.push_back(kernels_of(*layer.shape, precision, path));
    for (const GradientTensor& tensor : layer.gradients) step.tensors.push_back(tensor.elements);
  }
  step.update = kernel_of(table.optimizer, table.dtype);
  return step;
}

}  // namespace stepcast::calibrate
