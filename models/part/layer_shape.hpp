// Layer shapes: the kind and sizes of a layer, for layer tables that give shapes instead of times.
//
// Sizes are for one sample; the batch multiplies them. `rows` is the number of vectors in one sample: the tokens of a
// sentence, or 1 for an image classifier. The shape alone gives parameters, multiply-accumulates and traffic
// (models/workload/layer_work.hpp), so a file has no other fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "models/describe/describe.hpp"

namespace stepcast {

using Count = std::int64_t;
/// [height, width]. check_shapes (models/workload/check_shapes.hpp) checks its length and signs.
using Extent = std::vector<Count>;

// Limits far beyond any network keep products of a layer's sizes exact.
inline constexpr Limits kSize = between(1, 1e6);
inline constexpr Limits kElements = between(1, 1e12);

/// y = w * x (+ b), a kernel sliding over height and width.
struct Conv2d {
  static constexpr std::string_view kind = "conv2d";
  static constexpr std::string_view meaning = "convolution over height and width";
  Count in = 1, out = 1;
  Extent kernel{1, 1};
  Count stride = 1;
  Extent padding{0, 0};
  Count groups = 1;
  bool bias = false;
  Extent input{1, 1};

  template <class V>
  static void describe(V& v, Conv2d& x) {
    v.required("in", x.in, "input channels", kSize);
    v.required("out", x.out, "output channels", kSize);
    v.required("kernel", x.kernel, "[height, width] of the kernel");
    v.optional("stride", x.stride, "step of the kernel in both directions", between(1, 1000));
    v.optional("padding", x.padding, "[above and below, left and right] of the input, each side");
    v.optional("groups", x.groups, "groups of channels that are convolved apart", kSize);
    v.optional("bias", x.bias, "whether each output channel has a bias");
    v.required("input", x.input, "[height, width] of the input");
  }
  bool operator==(const Conv2d&) const = default;
};

/// The transpose of a convolution: each input pixel adds a kernel to the output (the up-convolution of U-Net).
struct ConvTranspose2d {
  static constexpr std::string_view kind = "conv_transpose2d";
  static constexpr std::string_view meaning = "transposed convolution: output is stride times the input";
  Count in = 1, out = 1;
  Extent kernel{2, 2};
  Count stride = 2;
  bool bias = false;
  Extent input{1, 1};

  template <class V>
  static void describe(V& v, ConvTranspose2d& x) {
    v.required("in", x.in, "input channels", kSize);
    v.required("out", x.out, "output channels", kSize);
    v.required("kernel", x.kernel, "[height, width] of the kernel");
    v.optional("stride", x.stride, "output over input size", between(1, 1000));
    v.optional("bias", x.bias, "whether each output channel has a bias");
    v.required("input", x.input, "[height, width] of the input");
  }
  bool operator==(const ConvTranspose2d&) const = default;
};

/// y = W x (+ b) for each row.
struct Linear {
  static constexpr std::string_view kind = "linear";
  static constexpr std::string_view meaning = "matrix product with a weight";
  Count in = 1, out = 1, rows = 1;
  bool bias = true;
  bool tied = false;

  template <class V>
  static void describe(V& v, Linear& x) {
    v.required("in", x.in, "inputs of a row", kSize);
    v.required("out", x.out, "outputs of a row", kSize);
    v.optional("rows", x.rows, "rows of one sample", kSize);
    v.optional("bias", x.bias, "whether each output has a bias");
    v.optional("tied", x.tied, "whether the weight is another layer's (an embedding's), and counted there");
  }
  bool operator==(const Linear&) const = default;
};

/// Division of an LSTM's parameters into tensors.
enum class LstmTensors { gates, fused, joint };

template <>
struct Choices<LstmTensors> {
  static constexpr std::array table = {
      Choice<LstmTensors>{"gates", LstmTensors::gates,
                          "an input matrix, a hidden matrix and a bias for each gate (Pufferfish)"},
      Choice<LstmTensors>{"fused", LstmTensors::fused,
                          "weight_ih, weight_hh, bias_ih, bias_hh for all gates (PyTorch, cuDNN)"},
      Choice<LstmTensors>{"joint", LstmTensors::joint, "one kernel for input and hidden, one bias (TensorFlow)"},
  };
};

/// One LSTM layer over a sequence, in one direction. A rank makes each of the 8 gate matrices a product of two.
struct Lstm {
  static constexpr std::string_view kind = "lstm";
  static constexpr std::string_view meaning = "one LSTM layer over a sequence";
  Count input = 1, hidden = 1, steps = 1;
  LstmTensors tensors = LstmTensors::fused;
  std::optional<Count> input_rank{}, hidden_rank{};

  template <class V>
  static void describe(V& v, Lstm& x) {
    v.required("input", x.input, "inputs of a step", kSize);
    v.required("hidden", x.hidden, "hidden units", kSize);
    v.required("steps", x.steps, "steps of one sample's sequence", kSize);
    v.optional("tensors", x.tensors, "how the parameters are cut into tensors");
    v.optional("input_rank", x.input_rank, "rank of each factorized input matrix; null: whole", kSize);
    v.optional("hidden_rank", x.hidden_rank, "rank of each factorized hidden matrix; null: whole", kSize);
  }
  bool operator==(const Lstm&) const = default;
};

/// softmax(QKᵀ/√d) V for each head. The projections are separate linear layers. Fused attention (FlashAttention: Dao et
/// al. 2022; Dao 2023) keeps the scores out of memory and computes them again in backward.
struct Attention {
  static constexpr std::string_view kind = "attention";
  static constexpr std::string_view meaning = "scores, softmax and weighted values; the projections are linear layers";
  Count heads = 1, d = 1, sequence = 1;
  std::optional<Count> memory{}, kv_heads{};
  bool fused = false, causal = false;

  template <class V>
  static void describe(V& v, Attention& x) {
    v.required("heads", x.heads, "attention heads", kSize);
    v.required("d", x.d, "width of all heads together", kSize);
    v.required("sequence", x.sequence, "query positions of one sample", kSize);
    v.optional("memory", x.memory, "key positions; null: as many as query positions", kSize);
    v.optional("kv_heads", x.kv_heads,
               "heads of keys and values, each shared by as many query heads (grouped-query attention); null: `heads`",
               kSize);
    v.optional("fused", x.fused,
               "one kernel whose scores stay on the chip (FlashAttention); false: they are kept in memory");
    v.optional(
        "causal", x.causal,
        "with `fused`: half of the scores are computed; otherwise all are computed and masked, without effect on time");
  }
  bool operator==(const Attention&) const = default;
};

/// Table look-up of rows.
struct Embedding {
  static constexpr std::string_view kind = "embedding";
  static constexpr std::string_view meaning = "rows looked up in a table";
  Count entries = 1, width = 1, rows = 1;
  bool exchanged = true;

  template <class V>
  static void describe(V& v, Embedding& x) {
    v.required("entries", x.entries, "rows of the table", between(1, 1e9));
    v.required("width", x.width, "elements of a row", kSize);
    v.optional("rows", x.rows, "look-ups of one sample", kSize);
    v.optional("exchanged", x.exchanged,
               "whether its gradient is sent as a dense tensor; false leaves it out of the gradients");
  }
  bool operator==(const Embedding&) const = default;
};

struct BatchNorm {
  static constexpr std::string_view kind = "batch_norm";
  static constexpr std::string_view meaning = "normalization of each channel over the batch";
  Count channels = 1;
  Extent input{1, 1};
  bool scale = true;

  template <class V>
  static void describe(V& v, BatchNorm& x) {
    v.required("channels", x.channels, "channels, each with a bias and, with `scale`, a weight", kSize);
    v.optional("input", x.input, "[height, width] of the input");
    v.optional("scale", x.scale, "whether each channel has a weight beside its bias");
  }
  bool operator==(const BatchNorm&) const = default;
};

struct LayerNorm {
  static constexpr std::string_view kind = "layer_norm";
  static constexpr std::string_view meaning = "normalization of each row";
  Count width = 1, rows = 1;
  bool bias = true, composed = false;

  template <class V>
  static void describe(V& v, LayerNorm& x) {
    v.required("width", x.width, "elements of a row, each with a weight and, with `bias`, a bias", kSize);
    v.optional("rows", x.rows, "rows of one sample", kSize);
    v.optional("bias", x.bias, "whether each element has a bias beside its weight; RMSNorm has none");
    v.optional(
        "composed", x.composed,
        "without bias: by simple operations in fp32 with a kernel each, like Hugging Face's Llama without a compiler; "
        "false: one kernel");
  }
  bool operator==(const LayerNorm&) const = default;
};

enum class ActivationFunction { relu, gelu, tanh, sigmoid, silu, dropout };

template <>
struct Choices<ActivationFunction> {
  static constexpr std::array table = {
      Choice<ActivationFunction>{"relu", ActivationFunction::relu, "max(x, 0)"},
      Choice<ActivationFunction>{"gelu", ActivationFunction::gelu, "x Φ(x)"},
      Choice<ActivationFunction>{"tanh", ActivationFunction::tanh, "tanh x"},
      Choice<ActivationFunction>{"sigmoid", ActivationFunction::sigmoid, "1/(1 + exp(-x))"},
      Choice<ActivationFunction>{"silu", ActivationFunction::silu, "x/(1 + exp(-x)), also called swish"},
      Choice<ActivationFunction>{"dropout", ActivationFunction::dropout, "a random part set to zero"},
  };
};

struct Activation {
  static constexpr std::string_view kind = "activation";
  static constexpr std::string_view meaning = "a function of each element";
  ActivationFunction function = ActivationFunction::relu;
  Count elements = 1;
  bool composed = false;

  template <class V>
  static void describe(V& v, Activation& x) {
    v.optional("function", x.function, "the function");
    v.required("elements", x.elements, "elements of one sample", kElements);
    v.optional(
        "composed", x.composed,
        "GELU by tanh of simple operations with a kernel each, like Hugging Face's GPT-2 without a compiler; false: "
        "one kernel");
  }
  bool operator==(const Activation&) const = default;
};

enum class PoolFunction { max, average };

template <>
struct Choices<PoolFunction> {
  static constexpr std::array table = {
      Choice<PoolFunction>{"max", PoolFunction::max, "the largest of a window"},
      Choice<PoolFunction>{"average", PoolFunction::average, "the mean of a window"},
  };
};

struct Pool {
  static constexpr std::string_view kind = "pool";
  static constexpr std::string_view meaning = "one value for each window";
  PoolFunction function = PoolFunction::max;
  Count channels = 1;
  Extent kernel{1, 1};
  Count stride = 1;
  Extent padding{0, 0};
  Extent input{1, 1};

  template <class V>
  static void describe(V& v, Pool& x) {
    v.optional("function", x.function, "the value of a window");
    v.required("channels", x.channels, "channels", kSize);
    v.required("kernel", x.kernel, "[height, width] of the window");
    v.optional("stride", x.stride, "step of the window", between(1, 1000));
    v.optional("padding", x.padding, "[above and below, left and right] of the input, each side");
    v.required("input", x.input, "[height, width] of the input");
  }
  bool operator==(const Pool&) const = default;
};

/// Elementwise sum of two tensors (a residual connection).
struct Add {
  static constexpr std::string_view kind = "add";
  static constexpr std::string_view meaning = "elementwise sum of two tensors";
  Count elements = 1;

  template <class V>
  static void describe(V& v, Add& x) {
    v.required("elements", x.elements, "elements of one sample's sum", kElements);
  }
  bool operator==(const Add&) const = default;
};

/// Elementwise product of two tensors.
struct Multiply {
  static constexpr std::string_view kind = "multiply";
  static constexpr std::string_view meaning = "elementwise product of two tensors";
  Count elements = 1;

  template <class V>
  static void describe(V& v, Multiply& x) {
    v.required("elements", x.elements, "elements of one sample's product", kElements);
  }
  bool operator==(const Multiply&) const = default;
};

/// Rotary position embedding (RoPE: Su et al. 2021, arXiv:2104.09864). It rotates queries and keys, not values.
struct Rotary {
  static constexpr std::string_view kind = "rotary";
  static constexpr std::string_view meaning = "queries and keys turned by their positions";
  Count elements = 1, passed = 1;
  bool composed = false;

  template <class V>
  static void describe(V& v, Rotary& x) {
    v.required("elements", x.elements, "elements of one sample's queries and keys", kElements);
    v.required("passed", x.passed, "elements of its values, which are handed on", kElements);
    v.optional(
        "composed", x.composed,
        "by simple operations with a kernel each, like Hugging Face's Llama without a compiler; false: one kernel");
  }
  bool operator==(const Rotary&) const = default;
};

/// Concatenation of tensors by copying (Inception, DenseNet, U-Net).
struct Concat {
  static constexpr std::string_view kind = "concat";
  static constexpr std::string_view meaning = "tensors copied beside each other";
  Count elements = 1;

  template <class V>
  static void describe(V& v, Concat& x) {
    v.required("elements", x.elements, "elements of one sample's result", kElements);
  }
  bool operator==(const Concat&) const = default;
};

/// Softmax and cross-entropy, with one label for each row.
struct SoftmaxLoss {
  static constexpr std::string_view kind = "softmax_loss";
  static constexpr std::string_view meaning = "softmax and cross-entropy";
  Count classes = 1, rows = 1;
  bool fused = false;

  template <class V>
  static void describe(V& v, SoftmaxLoss& x) {
    v.required("classes", x.classes, "classes of a row", kSize);
    v.optional("rows", x.rows, "rows of one sample", between(1, 1e9));
    v.optional(
        "fused", x.fused,
        "computed with the product before it, some rows at a time, without ever storing all scores (Wijmans et al. "
        "2024); changes the memory alone");
  }
  bool operator==(const SoftmaxLoss&) const = default;
};

using LayerShape = std::variant<Conv2d, ConvTranspose2d, Linear, Lstm, Attention, Embedding, BatchNorm, LayerNorm,
                                Activation, Pool, Add, Multiply, Rotary, Concat, SoftmaxLoss>;

}  // namespace stepcast
