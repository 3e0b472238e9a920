// What a layer of a given shape computes: its parameters, multiply-accumulates, and the work of its kernels.
//
// Counts of parameters and multiply-accumulates are exact. Work is what a good kernel must do: each tensor read or
// written once a kernel, weights once a batch. Kernels that fuse more, or need workspace, do less or more.
#pragma once

#include <string>
#include <vector>

#include "models/part/workload_table.hpp"

namespace stepcast {

/// The layer's gradient tensors as back-propagation finishes them: the bias before the weight.
/// A tied weight and an embedding that is not exchanged are in no list.
std::vector<GradientTensor> gradients_of(const Layer& layer);

/// Multiply-accumulates of one sample's forward pass that involve a weight. Biases, norms, activations and pools
/// count none.
double weight_macs(const LayerShape& shape);

/// Multiply-accumulates of one sample's forward pass between activations: attention's scores and weighted values, half
/// of them where it is fused and causal.
double attention_macs(const LayerShape& shape);

/// Arithmetic of one sample's forward and backward pass as model FLOPs utilization counts it (Chowdhery et al., PaLM,
/// JMLR 2023, appendix B): two operations for each multiply-accumulate above, backward with twice as many as forward;
/// of causal attention all scores, also where a fused kernel leaves half of them out.
Flops model_flops(const LayerShape& shape);

/// Elements of one sample's output.
double output_elements(const LayerShape& shape);

/// Output [height, width] of a window that slides over the input: (n + 2·padding - kernel)/stride + 1, rounded down.
Extent window_output(const Extent& input, const Extent& kernel, Count stride, const Extent& padding);

/// What one or more kernels do, one after the other.
struct KernelWork {
  Flops flops{};
  Bytes bytes{};  ///< read and written in the device's memory
  double kernels = 0;

  KernelWork& operator+=(const KernelWork& other) {
    flops += other.flops;
    bytes += other.bytes;
    kernels += other.kernels;
    return *this;
  }
};

struct LayerWork {
  KernelWork forward;
  KernelWork data_gradient;    ///< gradient of the input, which the layer before waits for
  KernelWork weight_gradient;  ///< gradient of the parameters, which the exchange waits for
};

/// The work of one step on `batch` samples. Normalizations, activations and pools count as data gradient.
/// @pre the shape passed check_shapes
LayerWork work_of(const LayerShape& shape, int batch, Dtype dtype);

/// Numbers that an optimizer keeps for each parameter: none, momentum, or Adam's two moments.
int states_of(Optimizer optimizer);

/// The update of `elements` parameters in `tensors` tensors, one kernel a tensor. Weights and state are fp32; with
/// another gradient type the weights have a copy in it.
KernelWork update_work(double elements, double tensors, Optimizer optimizer, Dtype dtype);

/// The kernel that updates one tensor, as device profiles name it and calibrate/ measures it:
/// "sgd_momentum-update/bf16". tf32 is fp32 in memory.
std::string update_kernel(Optimizer optimizer, Dtype dtype);

}  // namespace stepcast
