// The sizes of a transformer, as papers and model cards give them. models/workload/transformer_layers.hpp derives its
// layers.
#pragma once

#include <optional>

#include "models/part/layer_shape.hpp"

namespace stepcast {

/// A decoder of equal blocks, each with attention and a feed-forward network (ffn). A norm precedes each, and a
/// residual sum follows (GPT-2: Radford et al. 2019; Llama 2: Touvron et al. 2023). One sample is one sequence.
struct Transformer {
  Count layers = 1, hidden = 1, heads = 1;
  std::optional<Count> kv_heads{}, ffn{};
  bool gated = false;
  Count vocabulary = 1, sequence = 1;
  bool positions = true, tied = true, bias = true, dropout = false, fused_attention = true, causal = true,
       fused_loss = false, composed = false;

  template <class V>
  static void describe(V& v, Transformer& x) {
    v.required("layers", x.layers, "blocks", between(1, 10000));
    v.required("hidden", x.hidden, "width of the residual stream, and of all heads together", kSize);
    v.required("heads", x.heads, "attention heads", kSize);
    v.optional("kv_heads", x.kv_heads,
               "heads of keys and values, each shared by as many query heads (grouped-query attention); null: `heads`",
               kSize);
    v.optional("ffn", x.ffn, "width inside the feed-forward network; null: 4 times `hidden`", kSize);
    v.optional(
        "gated", x.gated,
        "SiLU of a gate's product times the up product (SwiGLU), as in Llama; false: GELU of the up product alone");
    v.required("vocabulary", x.vocabulary, "tokens that there are", kSize);
    v.required("sequence", x.sequence, "tokens of a sample", kSize);
    v.optional("positions", x.positions, "whether positions are a learned table; false: rotary, without parameters");
    v.optional("tied", x.tied, "whether the output's weight is the embedding's");
    v.optional("bias", x.bias, "biases of the blocks' products and norms (LayerNorm); false: neither (RMSNorm)");
    v.optional(
        "dropout", x.dropout,
        "dropout after embedding, attention and feed-forward network, and of attention's scores unless it is fused");
    v.optional("fused_attention", x.fused_attention,
               "scores stay on the chip (FlashAttention); false: they are kept in memory");
    v.optional(
        "fused_loss", x.fused_loss,
        "the output's product and the loss some tokens at a time, without ever storing the vocabulary's scores for all");
    v.optional(
        "composed", x.composed,
        "norms without bias, rotary positions and GELU by simple operations with a kernel each, like Hugging Face's "
        "Llama and GPT-2 without a compiler; false: one kernel each");
    v.optional("causal", x.causal, "a token attends only to those before it, which halves the work of fused attention");
  }
  bool operator==(const Transformer&) const = default;
};

/// Whether the transformer has operations that `composed` splits into simple ones.
inline bool may_be_composed(const Transformer& x) { return !x.bias || !x.positions || !x.gated; }

}  // namespace stepcast
