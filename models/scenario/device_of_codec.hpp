// The profile that prices a scenario's compressor.
#pragma once

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// The codec's own device, else the workload's profile; null if there is neither.
inline const DeviceProfile* device_of_codec(const Scenario& scenario) {
  if (scenario.codec.device) return &*scenario.codec.device;
  return scenario.workload && scenario.workload->profile ? &*scenario.workload->profile : nullptr;
}

/// The device's times of a compressor's codec; null if its kernels are priced.
inline const CodecEntry* codec_times(const Scenario& scenario, const Compressor& compressor) {
  const DeviceProfile* device = device_of_codec(scenario);
  return device ? find_codec(*device, name_of(compressor)) : nullptr;
}

}  // namespace stepcast
