// Derives the layers of a transformer from its sizes.
//
//     embedding, positions and positions.add (a learned position table), dropout
//     block.i: norm1, qkv, attention, projection, projection.dropout, add1,
//              norm2, ffn.up, ffn.activation, ffn.down, ffn.dropout, add2
//              gated: norm2, ffn.gate, ffn.activation, ffn.up, ffn.product, ffn.down, ...
//              with dropout, and scores in memory: attention, attention.dropout, projection, ...
//     norm, output, loss
//
// qkv is one product with d (1 + 2 k) outputs. Let d = hidden, f = ffn, V = vocabulary, S = sequence, and k =
// kv_heads/heads. g = 3 products if gated, else 2. b = 1 with biases, else 0. Then the parameters are
//
//     V d, 2 V d untied  +  S d, learned positions  +  (1 + b) d, the last norm
//     + layers · (2 (1 + k) d² + g d f + 2 d + b (2 (1 + k) d + (g - 1) f + 3 d))
#pragma once

#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// @pre heads divide the hidden width, and kv_heads divide the heads (check_transformer)
std::vector<Layer> layers_of(const Transformer& transformer);

/// Replaces the table's transformer by its layers. A table without a transformer is returned unchanged.
WorkloadTable expand(WorkloadTable table);

/// Appends a fault if the heads do not divide the width, or if kv_heads do not divide the heads.
void check_transformer(const Transformer& transformer, const std::string& pointer, std::vector<Fault>& faults);

/// The operations that `composed` splits: "norms and rotary positions". @pre may_be_composed
std::string composed_kinds(const Transformer& transformer);

}  // namespace stepcast
