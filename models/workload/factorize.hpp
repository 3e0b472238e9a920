// Low-rank factorization of a layer table (Pufferfish: Wang, Agarwal, Papailiopoulos, MLSys 2021).
//
// From the rule's first layer on, each layer with a weight W becomes two, unless the rule keeps it. They are name.u and
// name.v in execution order. For the unrolled weight, r = int(min(rows, columns) · ratio), at least 1:
//
//     conv2d    c_out x c_in·k_h·k_w:  k x k to r channels (no bias; stride and padding stay), then 1 x 1 to c_out
//     linear    out x in:              in to r (no bias), then r to out
//     lstm      each of the 8 gate matrices, inside the layer
//
// The second layer has the bias, if any. A convolution named in `stride_last` has its stride in the second layer.
// Pufferfish's ResNet-50 does this in the shortcut, so its first 1 x 1 works on the larger map. Unchanged are tied
// weights, embeddings, norms, grouped convolutions and transposed convolutions.
#pragma once

#include "models/part/workload_table.hpp"

namespace stepcast {

/// @pre the table passed check_shapes with this rule
WorkloadTable factorize(const WorkloadTable& table, const Factorize& rule);

/// Whether `name` is `prefix`, or `prefix` followed by a dot and more: "layer4" covers "layer4.0.conv1".
bool covers(const std::string& prefix, const std::string& name);

}  // namespace stepcast
