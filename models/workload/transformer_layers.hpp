// The layers of a transformer that is given by its sizes.
//
//     embedding, positions and positions.add (a learned table of them), dropout
//     block.i: norm1, qkv, attention, projection, projection.dropout, add1,
//              norm2, ffn.up, ffn.activation, ffn.down, ffn.dropout, add2
//              gated: norm2, ffn.gate, ffn.activation, ffn.up, ffn.product, ffn.down, ...
//     norm, output, loss
//
// qkv is one product of d (1 + 2 k) outputs. With d = hidden, f = ffn, V = vocabulary, S = sequence, k =
// kv_heads/heads, g = 3 products where gated and 2 where not, and b = 1 with biases and 0 without, parameters are
//
//     V d, 2 V d untied  +  S d, learned positions  +  (1 + b) d, the last norm
//     + layers · (2 (1 + k) d² + g d f + 2 d + b (2 (1 + k) d + (g - 1) f + 3 d))
#pragma once

#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// @pre heads divide the hidden width, kv_heads the heads (check_transformer)
std::vector<Layer> layers_of(const Transformer& transformer);

/// The table with layers instead of a transformer; one without a transformer as it is.
WorkloadTable expand(WorkloadTable table);

/// Appends a fault for heads that do not divide the width, and heads of keys and values that do not divide the heads.
void check_transformer(const Transformer& transformer, const std::string& pointer, std::vector<Fault>& faults);

}  // namespace stepcast
