// The gathering of a unit's parameters: as they are, or as integer codes.
#pragma once

#include "models/strategy/builder.hpp"

namespace stepcast {

/// Each worker encodes its share of the unit; all gather the shares; each decodes the whole unit.
struct UnitGather {
  Seconds encode{};  ///< zero without codes
  CollectiveCall call;
  Seconds decode{};
};

/// The gathering of `bytes` from the shares of `members` workers, by ShardedStrategy::quantized_gather. Kernels are
/// sweeps: one reads the share and writes its codes, one reads all codes and writes the parameters.
/// @param coded  the shares are kept as codes already, as those of the second copy for the backward pass
UnitGather unit_gather(const GraphInput& input, const ShardedStrategy& strategy, Bytes bytes, int members, bool coded);

/// The bytes of one worker's share of `parameters`, as it is sent.
Bytes gathered_share(const ShardedStrategy& strategy, Bytes parameters, Dtype dtype, int members);

}  // namespace stepcast
