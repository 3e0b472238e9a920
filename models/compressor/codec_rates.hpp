// What a device profile says of a compressor's kernels.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/scenario/profile.hpp"

namespace stepcast {

/// Of each kernel that the profile lists, its rates and knots; a peak of its own adds its arithmetic. Of all others, the rates of kernels that only sweep memory: the
/// profile's launch overhead, memory bandwidth times efficiency, and its fp32 peak (the first peak where it has none)
/// times efficiency; that peak also holds for listed kernels without one.
/// @throws ModelError when the profile has no peak
CodecRates codec_rates(const DeviceProfile& profile);

}  // namespace stepcast
