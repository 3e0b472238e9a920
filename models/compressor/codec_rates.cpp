#include "models/compressor/codec_rates.hpp"

namespace stepcast {

CodecRates codec_rates(const DeviceProfile& profile) {
  CodecRates rates{device_rates(profile), {}};
  for (const KernelEntry& kernel : profile.kernels) rates.measured[kernel.name] = rates_of(kernel, rates.all);
  return rates;
}

}  // namespace stepcast
