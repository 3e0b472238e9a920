// What a device profile says of a compressor's kernels.
#pragma once

#include "models/compressor/codec_plan.hpp"
#include "models/part/profile.hpp"

namespace stepcast {

/// rates_of each kernel that the profile lists; of all others device_rates.
/// @throws ModelError when the profile has no peak
CodecRates codec_rates(const DeviceProfile& profile);

}  // namespace stepcast
