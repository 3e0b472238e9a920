#include "models/workload/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "models/workload/layer_times.hpp"

namespace stepcast {
namespace {

const PeakRate* find_peak(const DeviceProfile& profile, Dtype dtype) {
  const auto found = std::find_if(profile.peaks.begin(), profile.peaks.end(), [&](const PeakRate& peak) { return peak.dtype == dtype; });
  return found == profile.peaks.end() ? nullptr : &*found;
}

class Transfer {
 public:
  Transfer(const DeviceProfile& measured, const DeviceProfile& from, const DeviceProfile& to)
      : measured_(measured), from_(from), to_(to), bandwidth_(to.memory_bandwidth.value / from.memory_bandwidth.value),
        clock_(from.clock && to.clock ? to.clock->value / from.clock->value : 1.0) {}

  DeviceProfile operator()(const std::string& name) const {
    DeviceProfile result = measured_;
    result.name = name;
    result.device.reset();
    result.checks.clear();
    result.description = fmt::format("Transferred, not measured: \"{}\" times \"{}\" over \"{}\"{}.", measured_.name, to_.name, from_.name, from_.clock && to_.clock ? "" : "; fixed times as measured, since a clock is not known");
    std::erase_if(result.peaks, [&](const PeakRate& peak) { return !ratio_of(peak.dtype); });
    if (result.peaks.empty()) throw TransferError(fmt::format("the profile \"{}\" has no peak of a type that both \"{}\" and \"{}\" have; add one to the datasheets", measured_.name, from_.name, to_.name));
    for (PeakRate& peak : result.peaks) {
      peak.rate *= *ratio_of(peak.dtype);
      mark(peak, 0);
    }
    result.memory_bandwidth.value *= bandwidth_;
    mark(result.memory_bandwidth, 0);
    result.launch_overhead.value *= 1 / clock_;
    mark(result.launch_overhead, 0);
    result.clock = to_.clock;
    mark(result.compute_efficiency);
    mark(result.memory_efficiency);
    mark(result.bend);
    mark(result.winograd);
    std::erase_if(result.layers, [&](const LayerEntry& layer) { return !ratio_of(layer.dtype); });
    const DeviceProfile roofs = result;  // times of layers are read off it while they change
    for (LayerEntry& layer : result.layers) move(layer, roofs);
    std::erase_if(result.range, [&](const FittedRange& range) { return !ratio_of(range.dtype); });
    for (KernelEntry& kernel : result.kernels) {
      for (RateKnot& knot : kernel.knots) knot.time = kernel.launch * (1 / clock_) + (knot.time - kernel.launch) * (1 / bandwidth_);
      kernel.launch *= 1 / clock_;
      kernel.bandwidth *= bandwidth_;
      if (kernel.peak) *kernel.peak *= ratio_of(Dtype::fp32).value_or(bandwidth_);
      // A kernel that was bound by arithmetic all the same.
      mark(kernel, deviation(1 / bandwidth_, ratio_of(Dtype::fp32).value_or(bandwidth_)));
    }
    return result;
  }

 private:
  [[nodiscard]] std::optional<double> ratio_of(Dtype dtype) const {
    const PeakRate *from = find_peak(from_, dtype), *to = find_peak(to_, dtype);
    if (from == nullptr || to == nullptr) return {};
    return to->rate / from->rate;
  }

  /// The spread that takes a time multiplied by `factor` to where the bandwidth's, and the peak's ratio alone would.
  [[nodiscard]] double deviation(double factor, double peak) const {
    double most = 0;
    for (const double ratio : {bandwidth_, peak}) most = std::max({most, ratio * factor - 1, 1 / (ratio * factor) - 1});
    return most;
  }

  void move(LayerEntry& layer, const DeviceProfile& roofs) const {
    const LayerWork before = work_on(measured_, layer.shape, layer.batch, layer.dtype);
    const LayerWork after = work_on(roofs, layer.shape, layer.batch, layer.dtype);
    double widest = 0;
    const auto part = [&](std::optional<Seconds>& time, const KernelWork& was, const KernelWork& is) {
      if (!time || was.kernels == 0) return;
      const double factor = roofline(is, roofs, layer.dtype) / roofline(was, measured_, layer.dtype);
      *time *= factor;
      widest = std::max(widest, deviation(factor, *ratio_of(layer.dtype)));
    };
    part(layer.forward, before.forward, after.forward);
    part(layer.data_gradient, before.data_gradient, after.data_gradient);
    part(layer.weight_gradient, before.weight_gradient, after.weight_gradient);
    mark(layer, widest);
  }

  template <class Entry>
  void mark(Entry& entry, std::optional<double> widening = {}) const {
    if constexpr (requires { entry.spread; })
      if (widening) entry.spread = std::min(*kSpread.max, (1 + entry.spread.value_or(0)) * (1 + *widening) - 1);
    entry.source = fmt::format("{}: {} ({})", measured_.name, entry.source, name_of(entry.evidence));
    entry.evidence = Evidence::transferred;
  }

  const DeviceProfile &measured_, &from_, &to_;
  double bandwidth_, clock_;
};

}  // namespace

DeviceProfile transfer(const DeviceProfile& measured, const DeviceProfile& from, const DeviceProfile& to, const std::string& name) {
  const auto is_measured = [](const auto& entry) { return entry.evidence == Evidence::measured; };
  if (!is_measured(measured.memory_bandwidth) && std::none_of(measured.layers.begin(), measured.layers.end(), is_measured) && std::none_of(measured.kernels.begin(), measured.kernels.end(), is_measured))
    throw TransferError(fmt::format("the profile \"{}\" holds no measurement to transfer; stepcast-calibrate device makes one that does", measured.name));
  return Transfer(measured, from, to)(name);
}

}  // namespace stepcast
