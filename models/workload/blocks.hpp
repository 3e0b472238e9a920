// Blocks of a network, told by names: those of a transformer, the residual blocks of a ResNet.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/part/workload_table.hpp"

namespace stepcast {

/// The block that a layer or a tensor is of: its name up to the first part between dots that is a number,
/// "encoder.layer.3" of "encoder.layer.3.output.dense.weight". "" of a name without one, which is of no block.
std::string_view block_of(std::string_view name);

/// [first, last) of a table's layers.
struct LayerRange {
  std::size_t first = 0, last = 0;
  bool operator==(const LayerRange&) const = default;
};

/// Each run of two layers of one block or more, in the table's order: a layer alone that has a number, as in
/// torchvision's VGG, is no block.
std::vector<LayerRange> blocks_of(const std::vector<Layer>& layers);

/// The blocks that the table's recomputation computes again. Of a share s block i, counted from 0, is one where
/// ⌊(i+1)·s⌋ > ⌊i·s⌋, so that of each n in a row ⌊n·s⌋ or one more are: of 0.5 every second.
std::vector<LayerRange> recomputed_blocks(const WorkloadTable& listed);

}  // namespace stepcast
