#include "models/workload/spread.hpp"

namespace stepcast {
namespace {

/// f(spread, time...) or f(spread, rate...) of everything in the profile that follows a spread.
template <class Profile, class Times, class Rates>
void for_each_spread(Profile& profile, Times&& times, Rates&& rates) {
  for (auto& peak : profile.peaks) rates(peak.spread, peak.rate);
  rates(profile.memory_bandwidth.spread, profile.memory_bandwidth.value);
  times(profile.launch_overhead.spread, profile.launch_overhead.value);
  for (auto& layer : profile.layers)
    for (auto* part : {&layer.forward, &layer.data_gradient, &layer.weight_gradient})
      if (*part) times(layer.spread, **part);
  for (auto& kernel : profile.kernels) {
    times(kernel.spread, kernel.launch);
    for (auto& knot : kernel.knots) times(kernel.spread, knot.time);
    rates(kernel.spread, kernel.bandwidth);
    if (kernel.peak) rates(kernel.spread, *kernel.peak);
  }
}

}  // namespace

bool has_spread(const DeviceProfile& profile) {
  bool found = false;
  const auto look = [&](const std::optional<double>& spread, const auto&) { found |= spread.value_or(0) > 0; };
  for_each_spread(profile, look, look);
  return found;
}

DeviceProfile at_side(DeviceProfile profile, Side side) {
  const auto factor = [&](const std::optional<double>& spread) { return side == Side::slow ? 1 + spread.value_or(0) : 1 / (1 + spread.value_or(0)); };
  for_each_spread(
      profile, [&](const std::optional<double>& spread, Seconds& time) { time *= factor(spread); },
      [&](const std::optional<double>& spread, auto& rate) { rate *= 1 / factor(spread); });
  return profile;
}

}  // namespace stepcast
