// Blocks of a network, found by name: transformer blocks, or the residual blocks of a ResNet.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/part/workload_table.hpp"

namespace stepcast {

/// The block of a layer or tensor: its name up to the first number between dots. For example "encoder.layer.3" for
/// "encoder.layer.3.output.dense.weight". A name without a number has no block: "".
std::string_view block_of(std::string_view name);

/// [first, last) of a table's layers.
struct LayerRange {
  std::size_t first = 0, last = 0;
  bool operator==(const LayerRange&) const = default;
};

/// All runs of at least two layers in one block, in the table's order. A single numbered layer, as in torchvision's
/// VGG, is not a block.
std::vector<LayerRange> blocks_of(const std::vector<Layer>& layers);

/// The blocks that the table recomputes. With share s, block i (from 0) is recomputed if ⌊(i+1)·s⌋ > ⌊i·s⌋. Among n
/// consecutive blocks, ⌊n·s⌋ or one more are recomputed: every second one for s = 0.5.
std::vector<LayerRange> recomputed_blocks(const WorkloadTable& listed);

}  // namespace stepcast
