// The speed of one memory-bound kernel on a device: one of a compressor, or an optimizer's update.
#pragma once

#include <vector>

#include "models/part/profile.hpp"

namespace stepcast {

/// The rates of a kernel on a device.
struct KernelRates {
  Seconds launch{};
  BytesPerSecond bandwidth{};  ///< after the last knot
  FlopsPerSecond peak{};
  std::vector<RateKnot> knots{};  ///< ascending
  bool adds_arithmetic = false;   ///< true: flops/peak is added; false: the longer time counts

  /// m(b): linear from (0, launch) through the knots, then at `bandwidth`.
  [[nodiscard]] Seconds memory_time(Bytes bytes) const;
  /// m(b) + flops/peak if adds_arithmetic, else max(m(b), launch + flops/peak).
  [[nodiscard]] Seconds time(Bytes bytes, Flops flops) const;
};

/// Rates of kernels that the profile does not list: its launch overhead, its memory bandwidth and its fp32 peak. Both
/// rates are multiplied by their efficiency. Without an fp32 peak, the first peak counts.
/// @throws ModelError when the profile has no peak
KernelRates device_rates(const DeviceProfile& profile);

/// Rates of a kernel that the profile lists. With a peak of its own, its arithmetic is added. Without one, `device`'s
/// peak holds.
KernelRates rates_of(const KernelEntry& kernel, const KernelRates& device);

}  // namespace stepcast
