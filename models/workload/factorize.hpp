// Low-rank factorization of a layer table (Pufferfish: Wang, Agarwal, Papailiopoulos, MLSys 2021).
//
// From the rule's first layer on, each layer with a weight W that is not kept becomes two, called name.u and name.v
// in the order in which they run, with r = int(min(rows, columns) · ratio), at least 1, of the unrolled weight:
//
//     conv2d    c_out x c_in·k_h·k_w:  k x k to r channels (no bias; stride and padding stay), then 1 x 1 to c_out
//     linear    out x in:              in to r (no bias), then r to out
//     lstm      each of the 8 gate matrices, inside the layer
//
// The bias, if any, is the second's. A convolution named in `stride_last` takes its stride in the second: the
// shortcut of Pufferfish's ResNet-50, whose first 1 x 1 so works on the larger map. Tied weights, embeddings, norms,
// convolutions in groups and transposed convolutions stay whole.
#pragma once

#include "models/part/workload_table.hpp"

namespace stepcast {

/// @pre the table passed check_shapes with this rule
WorkloadTable factorize(const WorkloadTable& table, const Factorize& rule);

/// Whether `name` is `prefix` or continues it after a dot: "layer4" covers "layer4.0.conv1".
bool covers(const std::string& prefix, const std::string& name);

}  // namespace stepcast
