// The work of a layer with a given shape: its parameters, its multiply-accumulates, and the work of its kernels.
//
// Parameters and multiply-accumulates are exact. The work is that of a good kernel: each tensor is read or written once
// per kernel, weights once per batch. More fusion means less work; workspace means more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/part/kernel_model.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// The layer's gradient tensors in the order of back-propagation: the bias before the weight. The list leaves out a
/// tied weight and an embedding without exchange.
std::vector<GradientTensor> gradients_of(const Layer& layer);

/// Multiply-accumulates with a weight, in one sample's forward pass. Biases, norms, activations and pools count as
/// zero.
double weight_macs(const LayerShape& shape);

/// Multiply-accumulates between activations, in one sample's forward pass: attention's scores and weighted values.
/// Fused causal attention counts half of them.
double attention_macs(const LayerShape& shape);

/// The computed scores of one sample's heads. A fused causal kernel skips the masked half.
double scores_of(const Attention& x);

/// Whether a layer is the dropout of scores that the attention before it keeps in memory.
bool drops_scores(const LayerShape& shape, const LayerShape& before);

/// Arithmetic of one sample's forward and backward pass, as model FLOPs utilization counts it (Chowdhery et al., PaLM,
/// JMLR 2023, appendix B). Each multiply-accumulate above is two operations; backward counts twice as much as forward.
/// Causal attention counts all scores, even if a fused kernel skips half of them.
Flops model_flops(const LayerShape& shape);

/// Elements of one sample's output.
double output_elements(const LayerShape& shape);

/// Elements of one sample's input that the layer's weights, norm or function apply to. Attention has several inputs, and
/// an embedding has indices: these are 0.
double input_elements(const LayerShape& shape);

/// Output [height, width] of a window that slides over the input: (n + 2·padding - kernel)/stride + 1, rounded down.
Extent window_output(const Extent& input, const Extent& kernel, Count stride, const Extent& padding);

/// The work of one or more kernels in sequence.
struct KernelWork {
  Flops flops{};
  Bytes bytes{};  ///< reads and writes in device memory
  double kernels = 0;

  KernelWork& operator+=(const KernelWork& other) {
    flops += other.flops;
    bytes += other.bytes;
    kernels += other.kernels;
    return *this;
  }
};

/// A product of m x k and k x n. A convolution amounts to one: n is its output's channels, k the inputs of an output.
struct ProductShape {
  double m = 0, n = 0, k = 0;
  double products = 1;  ///< such products in one kernel
  double executed = 1;  ///< part of the multiplications that the algorithm executes: less by Winograd's
  /// Elements: the largest power of two, up to 16, that divides the lengths of its matrices' rows in memory. A convolution
  /// has 16.
  double alignment = 16;
};

/// One kernel of a layer's pass, or equal ones in sequence.
struct LayerKernel {
  KernelKind kind = KernelKind::elementwise;
  KernelWork work{};  ///< of all of them
  /// Each one's. Attention has positions as m and a head's width as k, batch norm its channels as m. Other norms have
  /// rows as m and their width as k.
  std::optional<ProductShape> shape{};
  double again = 0;  ///< part of the bytes that is read a second time
};

/// The kernels of one step on `batch` samples.
struct PassKernels {
  std::vector<LayerKernel> forward, data_gradient, weight_gradient;
};
/// @pre the shape passed check_shapes
PassKernels kernels_of(const LayerShape& shape, int batch, Dtype dtype);

/// Their work together.
KernelWork sum_of(const std::vector<LayerKernel>& kernels);

struct LayerWork {
  KernelWork forward;
  KernelWork data_gradient;    ///< gradient of the input; the layer before waits for it
  KernelWork weight_gradient;  ///< gradient of the parameters; the exchange waits for it
};

/// The sums of kernels_of. Normalizations, activations and pools count as data gradient.
/// @pre the shape passed check_shapes
LayerWork work_of(const LayerShape& shape, int batch, Dtype dtype);

/// Number of values that an optimizer keeps for each parameter: none, momentum, or Adam's two moments.
int states_of(Optimizer optimizer);

/// The update of `elements` parameters in `tensors` tensors, with one kernel for each tensor. Weights and state are
/// fp32. Another gradient type adds a copy of the weights in that type.
KernelWork update_work(double elements, double tensors, Optimizer optimizer, Dtype dtype);

/// The kernel that updates one tensor, by its name in device profiles and in calibrate/: "sgd_momentum-update/bf16".
/// tf32 counts as fp32, its form in memory.
std::string update_kernel(Optimizer optimizer, Dtype dtype);

}  // namespace stepcast
