// Applies a variant to a layer table.
#pragma once

#include "models/part/workload_table.hpp"

namespace stepcast {

/// The table without its variant, whose changes it has: factorized layers (factorize.hpp), fused attention, layers of
/// simple operations. Fused attention drops scores in its kernel, so a dropout of as many elements behind it goes.
/// @pre the table passed check_shapes, and has layers
WorkloadTable with_variant(const WorkloadTable& table);

/// Makes a GELU, a norm without bias or rotary positions simple operations. Returns whether the shape is one of them.
bool compose(LayerShape& shape);

}  // namespace stepcast
