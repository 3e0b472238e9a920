// The rates of a compressor's kernels from a device profile.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/part/profile.hpp"

namespace stepcast {

/// rates_of for each kernel in the profile; device_rates for all others.
/// @throws ModelError when the profile has no peak
CodecRates codec_rates(const DeviceProfile& profile);

}  // namespace stepcast
