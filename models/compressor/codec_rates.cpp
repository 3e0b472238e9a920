#include "models/compressor/codec_rates.hpp"

#include "models/scenario/fault.hpp"

namespace stepcast {

CodecRates codec_rates(const DeviceProfile& profile) {
  if (profile.peaks.empty()) throw ModelError("the device profile \"" + profile.name + "\" has no peak rate");
  const PeakRate* fp32 = find_peak(profile, Dtype::fp32);
  const PeakRate& peak = fp32 == nullptr ? profile.peaks.front() : *fp32;
  CodecRates rates{{profile.launch_overhead.value, profile.memory_bandwidth.value * profile.memory_efficiency.value, peak.rate * profile.compute_efficiency.value}, {}};
  for (const KernelEntry& kernel : profile.kernels) {
    KernelRates& known = rates.measured[kernel.name] = {kernel.launch, kernel.bandwidth, kernel.peak.value_or(rates.all.peak), {}, kernel.peak.has_value()};
    for (const RateKnot& knot : kernel.knots) known.knots.push_back({knot.bytes, knot.time});
  }
  return rates;
}

}  // namespace stepcast
