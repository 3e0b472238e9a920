#include "models/compressor/codec_rates.hpp"

namespace stepcast {

CodecRates codec_rates(const DeviceProfile& profile) {
  CodecRates rates{device_rates(profile), {}};
  for (const KernelEntry& kernel : profile.kernels) rates.measured[kernel.name] = rates_of(kernel, rates.all);
  for (const CodecEntry& codec : profile.codecs) rates.whole[codec.method] = codec;
  return rates;
}

}  // namespace stepcast
