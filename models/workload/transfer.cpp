#include "models/workload/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "models/workload/kernel_time.hpp"
#include "models/workload/layer_times.hpp"

namespace stepcast {
namespace {

/// s: nine of ten factors are within 1/(1 + s) and 1 + s.
double most_factors_within(const ShapeFactors& factors) {
  std::vector<double> away;
  for (const double factor : factors.factors) away.push_back(std::max(factor, 1 / factor) - 1);
  std::sort(away.begin(), away.end());
  return away[away.size() * 9 / 10];
}

constexpr double kReachable = 0.95;  ///< share of the bandwidth that streaming kernels reach
constexpr double kBend = 4;

/// Ratios of the rates that bound a streaming kernel.
struct StreamRatios {
  double bandwidth, processors;

  /// New over old time of a kernel that draws this share of the old bandwidth.
  [[nodiscard]] double time(double share) const {
    const double by_memory = std::min(1.0, std::pow(share / kReachable, kBend));
    return std::pow(by_memory * std::pow(bandwidth, -kBend) + (1 - by_memory) * std::pow(processors, -kBend),
                    1 / kBend);
  }
};

/// Kinds that move the bytes which stepcast counts. Norms and softmax read their rows again, so their shares say less. An
/// H100's softmax in fp32 is met within 3 % forward where it goes with the bandwidth alone.
bool is_streaming(KernelKind kind) {
  return kind == KernelKind::elementwise || kind == KernelKind::batch_norm || kind == KernelKind::pool ||
         kind == KernelKind::embedding;
}

StreamRatios stream_ratios(const DeviceProfile& from, const DeviceProfile& to) {
  const double bandwidth = to.memory_bandwidth.value / from.memory_bandwidth.value;
  if (!from.processors || !to.processors || !from.clock || !to.clock) return {bandwidth, bandwidth};
  return {bandwidth,
          static_cast<double>(to.processors->value) / from.processors->value * (to.clock->value / from.clock->value)};
}

class Transfer {
 public:
  Transfer(const DeviceProfile& measured, const DeviceProfile& from, const DeviceProfile& to)
      : measured_(measured),
        from_(from),
        to_(to),
        stream_(stream_ratios(from, to)),
        clock_(from.clock && to.clock ? to.clock->value / from.clock->value : 1.0) {}

  DeviceProfile operator()(const std::string& name) const {
    DeviceProfile result = measured_;
    result.name = name;
    result.device.reset();
    result.checks.clear();
    result.description = fmt::format(
        "Transferred, not measured: \"{}\" times \"{}\" over \"{}\"{}.", measured_.name, to_.name, from_.name,
        from_.clock && to_.clock ? "" : "; fixed times as measured, since a clock is not known");
    std::erase_if(result.peaks, [&](const PeakRate& peak) { return !ratio_of(peak.dtype); });
    if (result.peaks.empty())
      throw TransferError(fmt::format(
          "the profile \"{}\" has no peak of a type that both \"{}\" and \"{}\" have; add one to the datasheets",
          measured_.name, from_.name, to_.name));
    for (PeakRate& peak : result.peaks) {
      peak.rate *= *ratio_of(peak.dtype);
      mark(peak);
    }
    result.memory = to_.memory;
    result.memory_bandwidth.value *= stream_.bandwidth;
    mark(result.memory_bandwidth);
    result.launch_overhead.value *= 1 / clock_;
    mark(result.launch_overhead);
    result.clock = to_.clock;
    const bool tiles = std::any_of(measured_.kernel_models.begin(), measured_.kernel_models.end(),
                                   [](const KernelModel& model) { return model.tiling.has_value(); });
    if (tiles && !to_.processors)
      throw TransferError(fmt::format(
          "the profile \"{}\" spreads tiles over processors, and \"{}\" lacks their number; add `processors` to it",
          measured_.name, to_.name));
    result.processors = to_.processors;
    mark(result.compute_efficiency);
    if (result.attention_efficiency) mark(*result.attention_efficiency);
    mark(result.memory_efficiency);
    mark(result.bend);
    if (result.sustained) mark(*result.sustained);
    if (result.host_launch) mark(*result.host_launch);
    mark(result.winograd);
    const auto has_peak = [&](Dtype dtype) { return find_peak(result, dtype) != nullptr; };
    std::erase_if(result.layers, [&](const LayerEntry& layer) { return !has_peak(layer.dtype); });
    std::erase_if(result.range, [&](const FittedRange& range) { return !has_peak(range.dtype); });
    std::erase_if(result.roofline_spread, [&](const RooflineSpread& one) { return !has_peak(one.dtype); });
    for (LayerEntry& layer : result.layers) rescale(layer, result);
    for (RooflineSpread& one : result.roofline_spread) {
      one.spread = widened(one.spread, reach(1_s, 1_s * (1 / stream_.bandwidth), {}, ratio_of(one.dtype)));
      mark(one);
    }
    std::erase_if(result.kernel_models, [&](const KernelModel& model) { return !has_peak(model.dtype); });
    for (KernelModel& model : result.kernel_models) rescale(model);
    for (KernelEntry& kernel : result.kernels) rescale(kernel);
    for (CodecEntry& codec : result.codecs) rescale(codec);
    return result;
  }

  /// Shares of the peak hold, but a pool's operations are those of processors, whose peak in most types is that of tensor
  /// cores. Halves of norms are those of few blocks or short rows. A block goes with the clock, others stay idle.
  void move_rates(KernelModel& model) const {
    scale_fixed_times(model, 1 / clock_);
    double time = 1 / stream_.bandwidth;
    if (is_streaming(model.kind)) {
      time = stream_.time(model.memory_share * (measured_.memory_bandwidth.value / from_.memory_bandwidth.value));
      model.memory_share /= time * stream_.bandwidth;
    }
    if (model.kind == KernelKind::norm || model.kind == KernelKind::batch_norm)
      for (auto* half : {&model.half_m, &model.half_k})
        if (*half) **half /= time * (from_.clock && to_.clock ? clock_ : stream_.bandwidth);
    if (model.kind == KernelKind::pool) model.share *= stream_.processors / ratio_of(model.dtype).value_or(1);
    model.spread = widened(model.spread.value_or(0), reach(1_s, 1_s * time, {}, ratio_of(model.dtype)));
  }

 private:
  [[nodiscard]] std::optional<double> ratio_of(Dtype dtype) const {
    const PeakRate *from = find_peak(from_, dtype), *to = find_peak(to_, dtype);
    if (from == nullptr || to == nullptr) return {};
    return to->rate / from->rate;
  }

  /// The spread around the new time `is` for every possible bound of the old time `was`. All of `was`, or all but its
  /// fixed part (at most `fixed`), scales with bandwidth or peak; the fixed part scales with the clock.
  [[nodiscard]] double reach(Seconds was, Seconds is, Seconds fixed, std::optional<double> peak) const {
    fixed = std::min(fixed, was);
    double most = 0;
    for (const double rate : {stream_.bandwidth, peak.value_or(stream_.bandwidth)})
      for (const Seconds possible : {was * (1 / rate), fixed * (1 / clock_) + (was - fixed) * (1 / rate)})
        most = std::max({most, possible / is - 1, is / possible - 1});
    return most;
  }

  void rescale(LayerEntry& layer, const DeviceProfile& result) const {
    const LayerWork before = work_on(measured_, layer.shape, layer.batch, layer.dtype),
                    after = work_on(result, layer.shape, layer.batch, layer.dtype);
    const double efficiency_before = efficiency_of(measured_, layer.shape),
                 efficiency_after = efficiency_of(result, layer.shape);
    double widest = 0;
    const auto rescale_part = [&](std::optional<Seconds>& time, const KernelWork& was, const KernelWork& is) {
      if (!time || was.kernels == 0) return;
      const Seconds before_transfer = *time;
      *time *= roofline(is, result, layer.dtype, efficiency_after) /
               roofline(was, measured_, layer.dtype, efficiency_before);
      widest = std::max(
          widest, reach(before_transfer, *time, measured_.launch_overhead.value * was.kernels, ratio_of(layer.dtype)));
    };
    rescale_part(layer.forward, before.forward, after.forward);
    rescale_part(layer.data_gradient, before.data_gradient, after.data_gradient);
    rescale_part(layer.weight_gradient, before.weight_gradient, after.weight_gradient);
    widen(layer, widest);
    mark(layer);
  }

  /// Factors by shape tell one device's library: between the A100 and the H100 they made products no better than their
  /// constants alone. So do slowdowns of odd sizes: 1.0 to 1.7 on a V100, 5.5 on an H100.
  void rescale(KernelModel& model) const {
    move_rates(model);
    model.errors.reset();
    if (model.factors) model.spread = widened(*model.spread, most_factors_within(*model.factors));
    model.factors.reset();
    model.misaligned.clear();
    mark(model);
  }

  void rescale(KernelEntry& kernel) const {
    const double by_bytes = stream_.time(kernel.bandwidth / from_.memory_bandwidth.value);
    for (RateKnot& knot : kernel.knots)
      knot.time = kernel.launch * (1 / clock_) + (knot.time - kernel.launch) * by_bytes;
    kernel.launch *= 1 / clock_;
    kernel.bandwidth *= 1 / by_bytes;
    const std::optional<double> peak = ratio_of(Dtype::fp32);
    if (kernel.peak) *kernel.peak *= peak.value_or(stream_.bandwidth);
    // The fixed part was measured separately. The part linear in bytes may really be arithmetic.
    widen(kernel, reach(1_s, 1_s * by_bytes, {}, peak));
    kernel.errors.reset();
    mark(kernel);
  }

  /// The times of a tensor and of a column of its factors are taken for launches. An element's time is many kernels, some
  /// bound by the memory and some by processors, so it goes with the geometric mean of both.
  void rescale(CodecEntry& codec) const {
    const auto moved = [&](auto& time) {
      time.per_tensor *= 1 / clock_;
      time.per_rank *= 1 / clock_;
      time.per_element *= 1 / std::sqrt(stream_.bandwidth * stream_.processors);
    };
    moved(codec);
    if (codec.decode) moved(*codec.decode);
    mark(codec);
  }

  static double widened(double spread, double reach) { return std::min(*kSpread.max, (1 + spread) * (1 + reach) - 1); }

  /// Sets the spread to (1 + spread) · (1 + reach) - 1. The sampling on the other device does not apply here.
  template <class Entry>
  static void widen(Entry& entry, double reach) {
    if (entry.spread || reach > 0) entry.spread = widened(entry.spread.value_or(0), reach);
    entry.iqr.reset();
    entry.start_spread.reset();
    entry.samples.reset();
    entry.discarded.reset();
  }

  /// An assumption stays an assumption.
  template <class Entry>
  void mark(Entry& entry) const {
    if (entry.evidence == Evidence::assumed) return;
    entry.source = fmt::format("{}: {} ({})", measured_.name, entry.source, name_of(entry.evidence));
    entry.evidence = Evidence::transferred;
  }

  const DeviceProfile &measured_, &from_, &to_;
  StreamRatios stream_;
  double clock_;
};

}  // namespace

void move_rates(KernelModel& model, const DeviceProfile& from, const DeviceProfile& to) {
  Transfer(from, from, to).move_rates(model);
}

DeviceProfile transfer(const DeviceProfile& measured, const DeviceProfile& from, const DeviceProfile& to,
                       const std::string& name) {
  const auto is_measured = [](const auto& entry) { return entry.evidence == Evidence::measured; };
  if (!is_measured(measured.memory_bandwidth) &&
      std::none_of(measured.layers.begin(), measured.layers.end(), is_measured) &&
      std::none_of(measured.kernel_models.begin(), measured.kernel_models.end(), is_measured) &&
      std::none_of(measured.kernels.begin(), measured.kernels.end(), is_measured))
    throw TransferError(fmt::format(
        "the profile \"{}\" holds no measurement to transfer; stepcast-calibrate device makes one that does",
        measured.name));
  return Transfer(measured, from, to)(name);
}

}  // namespace stepcast
