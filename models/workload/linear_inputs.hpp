// The inputs of linear layers, which a table does not give, and the sums of gradients where several layers read one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "models/workload/autocast.hpp"

namespace stepcast {

/// By layer: the layer whose output a linear one reads. It is the nearest one with as many elements as its input has
/// (earlier_outputs.hpp). A linear layer behind another one with as many inputs and rows reads the same input, as
/// queries, keys and values do. The same holds behind a factorized one. None for the sample and for other layers. So two
/// equal layers in a row count as beside each other, and a decoder's keys and values count as reading its queries' input.
std::vector<std::optional<std::size_t>> linear_inputs(const std::vector<Layer>& layers);

/// Adds the sum of gradients to each linear layer whose input an earlier one reads, too: one kernel that reads two
/// gradients of the input and writes one, in the input's type. Backward passes of Add have the sum with the gradient of
/// the branch that goes around. BERT's queries, keys, values and branch have three sums; two of them are these.
/// Other layers that read one output, such as the branches of Inception's blocks, have none here.
void add_gradient_sums(const WorkloadTable& listed, int batch, std::vector<LayerPrecision>& layers);

}  // namespace stepcast
