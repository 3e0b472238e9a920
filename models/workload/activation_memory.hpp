// Activations: what forward keeps in memory until backward has read it.
//
// A layer's backward reads tensors of one sample, each of the operands' type unless another is said:
//
//   conv2d, conv_transpose2d, linear   its input
//   lstm               its input and output; of each step four gates and the cell state; the middles of factorized products
//   attention          q, k and v; fused: its output, and in fp32 one number for each row and head; otherwise the scores' softmax
//   embedding          its indices, 8 bytes each
//   batch_norm         its input (the channels' statistics are not counted)
//   layer_norm         its input, and in fp32 mean and deviation of each row; composed: its input in fp32, if that is another type what it
//                      normalizes it to before the weights, and in fp32 one number of each row
//   activation         relu, tanh, sigmoid: its output; gelu, silu: its input; dropout: a mask of one byte an element
//   pool               its input; of a maximum its place, 8 bytes
//   multiply           both inputs
//   softmax_loss       8 bytes of label a row, and unless it is fused its scores, in fp32 a copy of them where they are narrower,
//                      the logarithms of its probabilities, and the gradient of these, with which backward begins
//   add, concat, rotary   nothing
//
// as PyTorch's autograd keeps them (tools/autograd/derivatives.yaml). A tensor that several layers read is kept once. A
// table has its layers in order but not what each one reads, so that a layer's input is taken to be the nearest output
// before it of as many elements, in which branches of a network go by their sizes; where there is none it is the sample
// itself. Several inputs of a layer are the nearest outputs, or parts of the newest if that has as many elements as all
// of them together. For a transformer of halves with scores in memory this is Korthikanti et al. 2022
// (arXiv:2205.05198), section 4.1: 34 s b h + 5 a s² b bytes of a block, less 3 a s² b for the dropout of scores, which
// no layer here is.
#pragma once

#include "models/part/workload_table.hpp"

namespace stepcast {

/// Bytes of activations at the fullest moment of a pass of `table.batch` samples: at the end of forward; where blocks
/// are computed again (Recomputation), that or the backward of a block, with what it computed again and what is kept of
/// all before it. Kept is then what was made outside of blocks, and of blocks what the next layer or another block
/// reads.
/// @pre the table gives shapes, and passed list_gradients (layer_times.hpp)
Bytes activations_of(const WorkloadTable& listed);

}  // namespace stepcast
