// Kernels of a network's layers: forward pass, gradient of the input, gradient of the parameters. Each part is one
// Kernel whose n is the batch; its shape is in its parameters, so that reference and launch read the same numbers.
//
// Tensors are dense and row-major. Images are batch x channels x height x width; vectors are (batch·rows) x width;
// weights are out x in (x height x width). Parameters and their gradients are of the layer's type; sums are in fp32.
// Kernel::role names layer and part ("conv2d-forward"). Kernel::method names the precision; for convolutions, the path
// comes before it ("fp32", "cudnn-bf16").
#pragma once

#include <optional>

#include "kernels/kernel.hpp"

namespace stepcast::kernels {

/// fp32; tf32: fp32 in memory, products on tensor cores with mantissas of 10 bits; bf16: activations and weights in
/// bf16.
enum class Precision { fp32, tf32, bf16 };
inline constexpr Precision kPrecisions[] = {Precision::fp32, Precision::tf32, Precision::bf16};
const char* name_of(Precision precision);

/// How convolutions are computed: with columns in memory and cuBLAS, or by cuDNN.
enum class ConvolutionPath { im2col, cudnn };
inline constexpr ConvolutionPath kConvolutionPaths[] = {ConvolutionPath::im2col, ConvolutionPath::cudnn};
/// The prefix of a method's precision: "", "cudnn-".
const char* prefix_of(ConvolutionPath path);

/// A part that the layer lacks is empty, such as the gradient of parameters that it does not have.
struct LayerKernels {
  std::optional<Kernel> forward, data_gradient, weight_gradient;

  /// The parts that the layer has, in that order.
  [[nodiscard]] std::vector<const Kernel*> parts() const;
};

// Shapes describe one sample; `rows` is the number of its vectors. A rank of 0 means not factorized.

struct LinearShape {
  std::int64_t in, out, rows;
  std::int64_t rank = 0;  ///< y = V (U x): U is rank x in, V is out x rank
  bool bias = false;
};
/// `groups` divides in and out, and is 1 where there is a rank.
struct Conv2dShape {
  std::int64_t in, out, kernel_height, kernel_width, stride, padding_height, padding_width, groups, height, width;
  std::int64_t rank = 0;  ///< kernel to `rank` channels, then 1 x 1 to `out`
  bool bias = false;
};
/// Square images and kernels, with the padding that keeps the size where the stride is 1.
inline Conv2dShape square_conv2d(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                                 std::int64_t side, std::int64_t rank = 0, bool bias = false) {
  return {in, out, kernel, kernel, stride, kernel / 2, kernel / 2, 1, side, side, rank, bias};
}
/// Output: stride times the input in both directions.
struct ConvTranspose2dShape {
  std::int64_t in, out, kernel_height, kernel_width, stride, height, width;
  bool bias = false;
};
/// Gates i, f, g, o. The input's products are computed for all steps at once, the hidden state's step by step. Tensors
/// are time-major: steps x batch x width.
struct LstmShape {
  std::int64_t input, hidden, steps;
  std::int64_t input_rank = 0, hidden_rank = 0;  ///< rank of each gate's matrix
};
/// softmax(QKᵀ/√(d/heads)) V for each head; the scores stay in memory.
struct AttentionShape {
  std::int64_t heads, d, sequence, memory;
};
struct EmbeddingShape {
  std::int64_t entries, width, rows;
};
struct BatchNormShape {
  std::int64_t channels, height, width;
};
struct LayerNormShape {
  std::int64_t width, rows;
};
enum class ActivationKind { relu, gelu, tanh, sigmoid, silu, dropout };
struct ActivationShape {
  ActivationKind kind;
  std::int64_t elements;
};
struct PoolShape {
  bool average;
  std::int64_t channels, kernel_height, kernel_width, stride, padding_height, padding_width, height, width;
};
/// Works on tensors of `elements` elements: sum of two tensors, product of two tensors, copy.
struct ElementwiseShape {
  std::int64_t elements;
};
struct SoftmaxLossShape {
  std::int64_t classes, rows;
};

// Products. The files of kernels/cpu/ and kernels/cuda/, one a kind, say what each computes and keeps. The buffers are
// in kernels/products.hpp.
// @throws std::invalid_argument if no padding makes a transposed convolution's output stride times its input
LayerKernels linear_layer(const LinearShape& shape, Precision precision);
LayerKernels conv2d_layer(const Conv2dShape& shape, Precision precision,
                          ConvolutionPath path = ConvolutionPath::im2col);
LayerKernels conv_transpose2d_layer(const ConvTranspose2dShape& shape, Precision precision);
LayerKernels lstm_layer(const LstmShape& shape, Precision precision);
LayerKernels attention_layer(const AttentionShape& shape, Precision precision);

// Sweeps over memory; tf32 is fp32 here.
LayerKernels embedding_layer(const EmbeddingShape& shape, Precision precision);
LayerKernels batch_norm_layer(const BatchNormShape& shape, Precision precision);
LayerKernels layer_norm_layer(const LayerNormShape& shape, Precision precision);
LayerKernels activation_layer(const ActivationShape& shape, Precision precision);
LayerKernels pool_layer(const PoolShape& shape, Precision precision);
LayerKernels add_layer(const ElementwiseShape& shape, Precision precision);
LayerKernels multiply_layer(const ElementwiseShape& shape, Precision precision);
LayerKernels concat_layer(const ElementwiseShape& shape, Precision precision);
LayerKernels softmax_loss_layer(const SoftmaxLossShape& shape, Precision precision);

/// The update of n parameters. Weights and state are fp32; with bf16 gradients, the weights also have a copy in bf16.
/// The updates are SGD (w ← w - ηg), SGD with momentum (PyTorch's: v ← μv + g, w ← w - ηv), and Adam (Kingma and Ba,
/// ICLR 2015, algorithm 1).
Kernel sgd_update(Precision precision);
Kernel sgd_momentum_update(Precision precision);
Kernel adam_update(Precision precision);

/// Every kernel of this header on small shapes, some of them odd, for the checks: the products,
/// the sweeps over memory, and both.
std::vector<Kernel> product_layer_kernels();
std::vector<Kernel> block_layer_kernels();
std::vector<Kernel> layer_kernels();
/// Convolutions by another path than im2col, on the shapes of layer_kernels() and larger ones. Those of cuDNN run where
/// has_cudnn() holds (kernels/cuda/cudnn.hpp).
std::vector<Kernel> convolution_kernels(ConvolutionPath path);
/// Three of ResNet-50's convolutions at a quarter of their rank, whose speed is measured
/// (calibrate/cuda/speed_main.cpp).
std::vector<Conv2dShape> timed_convolutions();

}  // namespace stepcast::kernels
