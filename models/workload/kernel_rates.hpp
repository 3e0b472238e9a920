// How fast a device runs one kernel that sweeps memory: a compressor's pass, or an optimizer's update.
#pragma once

#include <vector>

#include "models/part/profile.hpp"

namespace stepcast {

/// How fast a device runs a kernel.
struct KernelRates {
  Seconds launch{};
  BytesPerSecond bandwidth{};  ///< after the last knot
  FlopsPerSecond peak{};
  std::vector<RateKnot> knots{};  ///< ascending
  bool adds_arithmetic = false;   ///< flops/peak are added; otherwise the longer time is taken

  /// m(b): linear from (0, launch) by the knots, then at `bandwidth`.
  [[nodiscard]] Seconds memory_time(Bytes bytes) const;
  /// m(b) + flops/peak, or else max(m(b), launch + flops/peak).
  [[nodiscard]] Seconds time(Bytes bytes, Flops flops) const;
};

/// Of kernels that the profile does not list: its launch overhead, memory bandwidth times efficiency, and its fp32 peak
/// (the first peak where it has none) times efficiency.
/// @throws ModelError when the profile has no peak
KernelRates device_rates(const DeviceProfile& profile);

/// Of a kernel that the profile lists: its own, a peak of its own adding its arithmetic; without one `device`'s peak
/// holds.
KernelRates rates_of(const KernelEntry& kernel, const KernelRates& device);

}  // namespace stepcast
