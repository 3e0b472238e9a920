// Compressed reduce-scatters: the gradients of a unit on their way to the workers that update them.
#pragma once

#include "models/strategy/coded_exchange.hpp"

namespace stepcast {

/// The reduction of a unit's gradients by a compressor, to a share of the sum on each worker. A hop among q workers:
///   encode | all-to-all of the message (reduce-scatter, if messages can be summed) | decode and add q parts of d/q
/// Scope workers: one hop among all g workers of the group.
/// Scope machines: a machine's m workers reduce-scatter the gradients, as they are or by a hop of the inner compressor
/// (inside_machines.hpp), then one hop of the sum among the g/m workers of the same share. If the group is the machine, the
/// shares are instead summed between groups as coded_exchange() does.
/// The first encoding includes error feedback, an encoding of a sum has its own. Tensors that the codec leaves
/// whole are reduce-scattered, before the first messages. With several compressors, the hops of each are joined.
/// @param unit     bytes as gradients are reduced; input.workload has their dtype
/// @param carrier  between groups
/// @pre check() accepted the combination of compressor and strategy, and there is a compressor
CodedExchange coded_reduction(const GraphInput& input, const ShardedStrategy& strategy, const Bucket& unit,
                              Carrier carrier);

/// Whether shares are compressed between groups, instead of inside them.
bool compresses_between_groups(const GraphInput& input, const ShardedStrategy& strategy);

}  // namespace stepcast
