#include "models/workload/kernel_rates.hpp"

#include <algorithm>

#include "models/describe/fault.hpp"

namespace stepcast {

Seconds KernelRates::memory_time(Bytes bytes) const {
  RateKnot from{{}, launch};
  for (const RateKnot& knot : knots) {
    if (bytes < knot.bytes)
      return from.time + (bytes - from.bytes) / (knot.bytes - from.bytes) * (knot.time - from.time);
    from = knot;
  }
  return from.time + (bytes - from.bytes) / bandwidth;
}

Seconds KernelRates::time(Bytes bytes, Flops flops) const {
  const Seconds memory = memory_time(bytes);
  if (flops == Flops{}) return memory;
  return adds_arithmetic ? memory + flops / peak : std::max(memory, launch + flops / peak);
}

KernelRates device_rates(const DeviceProfile& profile) {
  if (profile.peaks.empty()) throw ModelError("the device profile \"" + profile.name + "\" has no peak rate");
  const PeakRate* fp32 = find_peak(profile, Dtype::fp32);
  const PeakRate& peak = fp32 == nullptr ? profile.peaks.front() : *fp32;
  return {profile.launch_overhead.value, profile.memory_bandwidth.value * profile.memory_efficiency.value,
          peak.rate * profile.compute_efficiency.value};
}

KernelRates rates_of(const KernelEntry& kernel, const KernelRates& device) {
  return {kernel.launch, kernel.bandwidth, kernel.peak.value_or(device.peak), kernel.knots, kernel.peak.has_value()};
}

}  // namespace stepcast
