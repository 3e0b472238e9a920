#include "models/workload/spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "models/workload/kernel_time.hpp"
#include "models/workload/layer_times.hpp"

namespace stepcast {
namespace {

/// Calls f(spread, time...) or f(spread, rate...) for the constants behind times without an entry.
template <class Profile, class Times, class Rates>
void for_each_constant(Profile& profile, Times&& times, Rates&& rates) {
  for (auto& peak : profile.peaks) rates(peak.spread, peak.rate);
  rates(profile.memory_bandwidth.spread, profile.memory_bandwidth.value);
  times(profile.launch_overhead.spread, profile.launch_overhead.value);
}

/// Does the same for measured layers and compressor kernels.
template <class Profile, class Times, class Rates>
void for_each_entry(Profile& profile, Times&& times, Rates&& rates) {
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

/// The smallest factor that covers a new part with probability 0.9, or the largest factor if there are too few.
/// @pre not empty
double covering(std::vector<double> factors) {
  std::sort(factors.begin(), factors.end());
  const std::size_t n = factors.size(), rank = (9 * (n + 1) + 9) / 10;
  return factors[std::min(n, rank) - 1];
}

}  // namespace

std::vector<RooflineSpread> judge_roofline(const DeviceProfile& profile) {
  std::map<Dtype, std::vector<double>> factors;
  for (const LayerEntry& layer : profile.layers) {
    if (layer.evidence != Evidence::measured) continue;
    const LayerWork work = work_on(profile, layer.shape, layer.batch, layer.dtype);
    const auto compare = [&](const std::optional<Seconds>& measured, const KernelWork& part) {
      if (!measured || part.kernels == 0) return;
      const double ratio = *measured / roofline(part, profile, layer.dtype, efficiency_of(profile, layer.shape));
      factors[layer.dtype].push_back(std::max(ratio, 1 / ratio));
    };
    compare(layer.forward, work.forward);
    compare(layer.data_gradient, work.data_gradient);
    compare(layer.weight_gradient, work.weight_gradient);
  }
  std::vector<RooflineSpread> spreads;
  for (const auto& [dtype, known] : factors) {
    const int parts = static_cast<int>(known.size());
    spreads.push_back({dtype, std::min(covering(known) - 1, *kSpread.max), parts, Evidence::measured,
                       fmt::format("the roofline of {} of this profile's layer times against them", parts)});
  }
  return spreads;
}

const RooflineSpread* find_roofline_spread(const DeviceProfile& profile, Dtype dtype) {
  const auto& spreads = profile.roofline_spread;
  const auto own =
      std::find_if(spreads.begin(), spreads.end(), [&](const RooflineSpread& one) { return one.dtype == dtype; });
  if (own != spreads.end()) return &*own;
  const auto widest =
      std::max_element(spreads.begin(), spreads.end(),
                       [](const RooflineSpread& a, const RooflineSpread& b) { return a.spread < b.spread; });
  return widest == spreads.end() ? nullptr : &*widest;
}

bool has_spread(const DeviceProfile& profile) {
  bool found = std::any_of(profile.roofline_spread.begin(), profile.roofline_spread.end(),
                           [](const RooflineSpread& one) { return one.spread > 0; });
  const auto look = [&](const std::optional<double>& spread, const auto&) { found |= spread.value_or(0) > 0; };
  for_each_constant(profile, look, look);
  for_each_entry(profile, look, look);
  for (const KernelModel& model : profile.kernel_models) look(model.spread, model.share);
  return found;
}

DeviceProfile at_side(DeviceProfile profile, Side side, Dtype dtype) {
  const auto factor = [&](std::optional<double> spread) {
    return side == Side::slow ? 1 + spread.value_or(0) : 1 / (1 + spread.value_or(0));
  };
  const RooflineSpread* known = find_roofline_spread(profile, dtype);
  const double unmeasured = known ? factor(known->spread) : 1;
  for (KernelModel& model : profile.kernel_models) {
    const double own = factor(model.spread);
    scale_fixed_times(model, own);
    // Peak and bandwidth move below by their own spread, which this model's replaces.
    if (const PeakRate* peak = find_peak(profile, model.dtype)) model.share *= unmeasured * factor(peak->spread) / own;
    model.memory_share *= unmeasured * factor(profile.memory_bandwidth.spread) / own;
  }
  for_each_constant(
      profile, [&](const std::optional<double>& spread, Seconds& time) { time *= unmeasured * factor(spread); },
      [&](const std::optional<double>& spread, auto& rate) { rate *= 1 / (unmeasured * factor(spread)); });
  for_each_entry(
      profile, [&](const std::optional<double>& spread, Seconds& time) { time *= factor(spread); },
      [&](const std::optional<double>& spread, auto& rate) { rate *= 1 / factor(spread); });
  return profile;
}

}  // namespace stepcast
