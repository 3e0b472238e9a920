// Mixed precision as PyTorch's autocast has it: the operands' type of each layer, and its casts.
//
// `wide` is the table's dtype, `narrow` its compute_dtype. By kind (PyTorch 2.11, "CUDA Ops that can autocast"):
//
//   linear, conv2d, conv_transpose2d, lstm
//                  narrow, and so is the output. Every pass casts each weight and bias, and its gradient back. A wide
//                  input is cast, and its gradient back, by each layer that reads it: autocast keeps casts of weights
//                  alone
//   attention      narrow. With scores in memory the softmax is wide; its result is cast, and the gradient before it. In
//                  bf16 the scores are cast, too, and their gradient. In fp16 the softmax's kernels do that
//   layer_norm     wide, and so is the output. A narrow input is cast, and its gradient back
//   embedding      wide, the type of its weights
//   softmax_loss   the log-softmax has its input's type. A narrow result is cast for the loss, whose gradient is cast
//                  back. With `fused` there is no cast
//   add            wide if one input is: the branch, or the sum, norm or embedding that it started at. A narrow
//                  branch's gradient is cast
//   activation     its input's type. GELU of simple operations is wide, as its cube is, and so is the output. Its four
//                  casts are not counted: narrow operands save as many bytes, within 3 %. Dropout of scores is wide
//   rotary         its input's type. By simple operations wide, as its cosines are: attention casts queries and keys
//   others         their input's type
//
// A cast reads n elements of one type and writes n of the other. A mixed sum has one narrow input, but is priced as
// wide. Inputs are those of earlier_outputs.hpp and linear_inputs.hpp. A sample counts as wide. Not counted: GradScaler's passes over gradients in fp16, and concatenations of both types, which are wide.
#pragma once

#include <vector>

#include "models/workload/layer_work.hpp"

namespace stepcast {

/// A layer's types, and the kernels beside its own.
struct LayerPrecision {
  Dtype dtype = Dtype::fp32;         ///< operands of its own kernels
  Dtype output = Dtype::fp32;        ///< its output
  bool casts_input = false;          ///< it computes with a cast of its input, which it keeps for backward
  bool casts_scores = false;         ///< it keeps attention's scores in both types
  PassKernels beside{};              ///< casts, and sums of gradients (linear_inputs.hpp)
  Dtype beside_dtype = Dtype::fp32;  ///< the type by which a device's constants price these
};

/// One for each layer, with the kernels beside for `batch` samples. Without autocast all are in compute_dtype.
/// @pre the table passed list_gradients (layer_times.hpp)
std::vector<LayerPrecision> precisions_of(const WorkloadTable& listed, int batch);

/// Elements of each weight and bias that a pass under autocast casts: those of products, tied weights among them.
/// @pre the layer has its gradients (list_gradients)
std::vector<double> cast_weights(const Layer& layer);

}  // namespace stepcast
