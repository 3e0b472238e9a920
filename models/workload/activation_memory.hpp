// Activations: the tensors that forward keeps in memory until backward reads them.
//
// A layer's backward reads these tensors of one sample, in its operands' type (autocast.hpp) unless said otherwise. A
// product or norm that casts its input keeps the cast, and attention that casts its scores keeps both:
//
//   conv2d, conv_transpose2d, linear   its input
//   lstm               its input and output; for each step four gates and the cell state; factorized: the inner vectors
//   attention          q, k and v; fused: its output, and in fp32 one number per row and head; else the scores' softmax
//   embedding          its indices, 8 bytes each
//   batch_norm         its input (the channels' statistics are not counted)
//   layer_norm         its input, and in fp32 mean and deviation of each row; composed: its input in fp32 (a copy in
//                      other types), the normalized input before the weights, and in fp32 one number for each row
//   activation         relu, tanh, sigmoid: its output; gelu, silu: its input; dropout: a mask of one byte per element;
//                      composed gelu: its input, the tanh and both factors of the last product
//   pool               its input; for a maximum also its position, 8 bytes
//   multiply           both inputs
//   softmax_loss       8 bytes of label for each row; unless fused also its scores, a copy of them in fp32 if they are
//                      narrower, the log-probabilities, and their gradient, with which backward begins. These two are
//                      fp32; under autocast the log-probabilities have the scores' type
//   add, concat, rotary   nothing
//
// PyTorch's autograd keeps the same tensors (tools/autograd/derivatives.yaml). A tensor that several layers read is
// kept once. A table gives the order of the layers, but not each layer's inputs. The model assumes that an input is the
// nearest earlier output with as many elements; this separates the branches of a network by size. Without such an
// output, the input is the sample itself. Several inputs are the nearest outputs, or parts of the newest output if
// their elements add up to it. Korthikanti et al. 2022 (arXiv:2205.05198), section 4.1, give 34 s b h + 5 a s² b bytes
// for each block of a transformer. This is for 2-byte elements and scores in memory. The model gives 2 a s² b less,
// since the values' product keeps no scores after dropout here.
#pragma once

#include "models/part/workload_table.hpp"

namespace stepcast {

/// Peak bytes of activations in a pass of `table.batch` samples. Without recomputation, the peak is at the end of
/// forward. With recomputed blocks (Recomputation), it may also be at a block's backward: the block's recomputed
/// tensors plus those kept from before it. A pass then keeps the tensors outside of blocks, and those in blocks that
/// the next layer or another block reads.
/// @pre the table gives shapes, and passed list_gradients (layer_times.hpp)
Bytes activations_of(const WorkloadTable& listed);

}  // namespace stepcast
