// Sums of gradients inside machines before they are compressed, and gathering after that.
#pragma once

#include "models/strategy/builder.hpp"

namespace stepcast {

/// The collectives of g workers of each machine around compressed messages of their shares. With `inner_dtype` they carry
/// that type. A worker casts its n bytes before the sum and after the gathering, and its share of n/g in between.
struct InsideMachines {
  CollectiveCall sum, spread;
  Seconds cast{};        ///< before the sum; as long after the gathering
  Seconds share_cast{};  ///< before encoding; as long after decoding
};
InsideMachines inside_machines(const GraphInput& input, Bytes n, int g);

/// n bytes of gradients in the type of sums inside machines, and the time to cast them or back. Without a compressor, or
/// without a narrower type, they stay as they are.
Bytes in_inner_dtype(const GraphInput& input, Bytes n);
Seconds inner_cast_time(const GraphInput& input, Bytes n);

}  // namespace stepcast
