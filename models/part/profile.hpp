// A device profile: the rates of one accelerator, which give the layer times (models/workload/layer_times.hpp). Every
// entry names its source, so a forecast never presents an assumption as a measurement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/part/dtype.hpp"
#include "models/part/layer_shape.hpp"

namespace stepcast {

enum class Evidence { measured, transferred, datasheet, recalled, assumed };

template <>
struct Choices<Evidence> {
  static constexpr std::array table = {
      Choice<Evidence>{"measured", Evidence::measured, "measured on the device"},
      Choice<Evidence>{"transferred", Evidence::transferred,
                       "predicted from another device's measurement and the two datasheets"},
      Choice<Evidence>{"datasheet", Evidence::datasheet, "the manufacturer's figure"},
      Choice<Evidence>{"recalled", Evidence::recalled, "from memory, not read again"},
      Choice<Evidence>{"assumed", Evidence::assumed, "our assumption"},
  };
};

/// An entry's spread s: the true time lies between 1/(1 + s) and 1 + s times the stated or computed time.
inline constexpr Limits kSpread = between(0, 100);
inline constexpr const char* kSpreadMeaning =
    "s: the time lies within a factor 1 + s of the one stated; null: not known";

/// The highest arithmetic rate with operands of one type.
struct PeakRate {
  Dtype dtype = Dtype::fp32;
  FlopsPerSecond rate{};
  Evidence evidence = Evidence::assumed;
  std::string source;
  std::optional<double> spread{};

  template <class V>
  static void describe(V& v, PeakRate& x) {
    v.required("dtype", x.dtype, "type of the operands");
    v.required("rate", x.rate, "highest rate, a multiply-accumulate being two operations", positive);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where the number stands");
    v.optional("spread", x.spread, kSpreadMeaning, kSpread);
  }
  bool operator==(const PeakRate&) const = default;
};

/// One number of a profile and its source.
template <class T>
struct ProfileEntry {
  T value{};
  Evidence evidence = Evidence::assumed;
  std::string source;
  std::optional<double> spread{};

  template <class V>
  static void describe(V& v, ProfileEntry& x) {
    v.required("value", x.value, "the number", positive);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where the number stands, or why it was assumed");
    v.optional("spread", x.spread, kSpreadMeaning, kSpread);
  }
  bool operator==(const ProfileEntry&) const = default;
};

/// A fraction of a whole and its source.
struct ProfileShare {
  double value = 1;
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, ProfileShare& x) {
    v.required("value", x.value, "the share, 1 being all", Limits{0.0, true, 1.0});
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where the number stands, or why it was assumed");
  }
  bool operator==(const ProfileShare&) const = default;
};

/// The sharpness of the roofline's bend; see roofline() in models/workload/layer_times.hpp.
struct RooflineBend {
  double value = 4;
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, RooflineBend& x) {
    v.required("value", x.value, "exponent k: 1 adds the two times, a large one takes the longer", between(1, 64));
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where the number stands, or why it was assumed");
  }
  bool operator==(const RooflineBend&) const = default;
};

/// The gain of Winograd convolution with a 3 x 3 kernel and stride 1: multiplications by definition over those
/// executed. 1 means no gain; F(2 x 2, 3 x 3) has 36/16 = 2.25 (Lavin and Gray, CVPR 2016). Only fp32 kernels use it.
struct WinogradGain {
  double value = 1;
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, WinogradGain& x) {
    v.required("value", x.value, "multiplications by definition over those done: 1 without, 2.25 for F(2x2, 3x3)",
               between(1, 9));
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where the number stands, or why it was assumed");
  }
  bool operator==(const WinogradGain&) const = default;
};

/// The sampling fields of an entry, which kernel and layer entries share.
template <class V, class Entry>
void describe_sampling(V& v, Entry& x) {
  v.optional("spread", x.spread, kSpreadMeaning, kSpread);
  v.optional("iqr", x.iqr, "distance of the quartiles of single times over their median; null: not known",
             non_negative);
  v.optional("start_spread", x.start_spread,
             "largest less least of the medians of process starts, over the median; null: not known", non_negative);
  v.optional("samples", x.samples, "times that the entry rests on; null: not known", at_least(1));
  v.optional("discarded", x.discarded, "times left out because the clock had dropped; null: not known", non_negative);
}

/// Measured times of one layer, used instead of the roofline. The roofline prices a part that is missing.
struct LayerEntry {
  LayerShape shape;
  int batch = 1;
  Dtype dtype = Dtype::fp32;
  std::optional<Seconds> forward, data_gradient, weight_gradient;
  Evidence evidence = Evidence::measured;
  std::string source;
  std::optional<double> spread{}, iqr{}, start_spread{};
  std::optional<std::int64_t> samples{}, discarded{};

  template <class V>
  static void describe(V& v, LayerEntry& x) {
    v.required("shape", x.shape, "what the layer computes");
    v.required("batch", x.batch, "samples that it was timed with", at_least(1));
    v.required("dtype", x.dtype, "type of the operands");
    v.optional("forward", x.forward, "forward time; null: by the roofline", positive);
    v.optional("data_gradient", x.data_gradient, "time of the input's gradient; null: by the roofline", positive);
    v.optional("weight_gradient", x.weight_gradient, "time of the parameters' gradients; null: by the roofline",
               positive);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where the times stand");
    describe_sampling(v, x);
  }
  bool operator==(const LayerEntry&) const = default;
};

struct FlopsRange {
  Flops min{}, max{};

  template <class V>
  static void describe(V& v, FlopsRange& x) {
    v.required("min", x.min, "the least", non_negative);
    v.required("max", x.max, "the most", non_negative);
  }
  bool operator==(const FlopsRange&) const = default;
};

struct BytesRange {
  Bytes min{}, max{};

  template <class V>
  static void describe(V& v, BytesRange& x) {
    v.required("min", x.min, "the least", non_negative);
    v.required("max", x.max, "the most", non_negative);
  }
  bool operator==(const BytesRange&) const = default;
};

/// The range of kernels that the roofline was fitted on; outside it, the roofline extrapolates. Values are per kernel.
/// A layer part with several kernels counts as their mean: the roofline of n equal kernels is n times that of one.
struct FittedRange {
  Dtype dtype = Dtype::fp32;
  FlopsRange flops;
  BytesRange bytes;

  template <class V>
  static void describe(V& v, FittedRange& x) {
    v.required("dtype", x.dtype, "type of the operands");
    v.required("flops", x.flops, "operations of a kernel");
    v.required("bytes", x.bytes, "bytes that a kernel reads and writes");
  }
  bool operator==(const FittedRange&) const = default;
};

/// The roofline's own deviation for kernels of one type, apart from the spread of its constants; see judge_roofline()
/// in models/workload/spread.hpp.
struct RooflineSpread {
  Dtype dtype = Dtype::fp32;
  double spread = 0;
  int parts = 1;
  Evidence evidence = Evidence::measured;
  std::string source;

  template <class V>
  static void describe(V& v, RooflineSpread& x) {
    v.required("dtype", x.dtype, "type of the operands");
    v.required("spread", x.spread, "s: times by the roofline lie within a factor 1 + s of the kernels'", kSpread);
    v.required("parts", x.parts, "times of layers' parts that it rests on", at_least(1));
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "what was compared");
  }
  bool operator==(const RooflineSpread&) const = default;
};

/// A point where the slope of a kernel's time changes.
struct RateKnot {
  Bytes bytes{};
  Seconds time{};

  template <class V>
  static void describe(V& v, RateKnot& x) {
    v.required("bytes", x.bytes, "bytes read and written", positive);
    v.required("time", x.time, "time at so many bytes, without the arithmetic of a peak of its own", positive);
  }
  bool operator==(const RateKnot&) const = default;
};

/// The error of a fit at sizes that it was not fitted on: |fitted - measured|/measured.
struct FitErrors {
  double median = 0, p90 = 0, largest = 0;
  int fitted = 0, held_out = 0;

  template <class V>
  static void describe(V& v, FitErrors& x) {
    v.required("median", x.median, "half of the sizes held out are nearer", non_negative);
    v.required("p90", x.p90, "nine tenths are nearer", non_negative);
    v.required("largest", x.largest, "the worst of them", non_negative);
    v.required("fitted", x.fitted, "times that the fit rests on", at_least(1));
    v.required("held_out", x.held_out, "times that judge it", at_least(1));
  }
  bool operator==(const FitErrors&) const = default;
};

/// Rates of one kernel of a compressor, or of an optimizer's update of one tensor. The time is piecewise linear in the
/// bytes: from (0, launch) through the knots, then at `bandwidth`. Without knots it is launch + bytes/bandwidth. With
/// its own peak, a kernel adds flops/peak. Without it, the time after `launch` is at least flops over the device's
/// peak.
struct KernelEntry {
  std::string name;
  Seconds launch{};
  BytesPerSecond bandwidth{};
  std::optional<FlopsPerSecond> peak;
  Evidence evidence = Evidence::measured;
  std::string source;
  std::vector<RateKnot> knots{};
  std::optional<BytesRange> range{};
  std::optional<FitErrors> errors{};
  std::optional<double> spread{}, iqr{}, start_spread{};
  std::optional<std::int64_t> samples{}, discarded{};

  template <class V>
  static void describe(V& v, KernelEntry& x) {
    v.required("name", x.name,
               "the kernel, as compressors call it, or an update and its type, such as sgd_momentum-update/bf16");
    v.required("launch", x.launch, "time it takes whatever it does", non_negative);
    v.required("bandwidth", x.bandwidth, "bytes read and written per second, large tensors", positive);
    v.optional("peak", x.peak, "operations per second, their time added; null: the device's, the longer time taken",
               positive);
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where the numbers stand");
    v.optional("knots", x.knots, "where the time bends, in order of bytes; empty: one straight line");
    v.optional("range", x.range, "bytes of the sizes measured; beyond them it is an extrapolation; null: not known");
    v.optional("errors", x.errors, "of the fit, on sizes held out; null: not known");
    describe_sampling(v, x);
  }
  bool operator==(const KernelEntry&) const = default;
};

/// A training step's time from the profile, beside the same step measured end to end on the device.
struct StepCheck {
  std::string workload, variant;
  int batch = 1;
  Dtype dtype = Dtype::fp32;
  Seconds assembled{}, measured{};
  std::string source;

  template <class V>
  static void describe(V& v, StepCheck& x) {
    v.required("workload", x.workload, "layer table");
    v.required("variant", x.variant, "its variant");
    v.required("batch", x.batch, "samples", at_least(1));
    v.required("dtype", x.dtype, "type of the operands");
    v.required("assembled", x.assembled, "forward, backward and update by this profile", positive);
    v.required("measured", x.measured, "the step on the device, median", positive);
    v.required("source", x.source, "whose kernels were run");
  }
  bool operator==(const StepCheck&) const = default;
};

/// The measured device and its software.
struct MeasuredDevice {
  std::string name;
  std::string compute_capability;
  std::string driver, toolkit;
  std::optional<Hertz> sm_clock, memory_clock;
  std::string flags;
  std::string git;
  std::string date;
  std::optional<Seconds> event_overhead{};

  template <class V>
  static void describe(V& v, MeasuredDevice& x) {
    v.required("name", x.name, "as its driver calls it");
    v.required("compute_capability", x.compute_capability, "such as 9.0");
    v.required("driver", x.driver, "highest CUDA version that the driver knows");
    v.required("toolkit", x.toolkit, "version of the CUDA runtime");
    v.optional("sm_clock", x.sm_clock, "median clock of the processors while it was measured; null: not known",
               positive);
    v.optional("memory_clock", x.memory_clock, "highest clock of the memory; null: not known", positive);
    v.required("flags", x.flags, "how the kernels were compiled and called");
    v.required("git", x.git, "state of stepcast's sources");
    v.required("date", x.date, "first day of the measurement, YYYY-MM-DD");
    v.optional(
        "event_overhead", x.event_overhead,
        "what the events around a sample added to it, and no time of the profile holds; null: nothing was taken off",
        positive);
  }
  bool operator==(const MeasuredDevice&) const = default;
};

/// Version 1 lacks `device`, and it lacks knots, ranges, errors and spreads of entries.
inline constexpr int kProfileVersion = 2;

struct DeviceProfile {
  int schema_version = 1;
  std::string name;
  std::string description;
  std::optional<std::string> gpu{};
  std::optional<MeasuredDevice> device{};
  std::vector<PeakRate> peaks;
  std::optional<ProfileEntry<Bytes>> memory{};
  ProfileEntry<BytesPerSecond> memory_bandwidth;
  ProfileEntry<Seconds> launch_overhead;
  std::optional<ProfileEntry<Hertz>> clock;
  ProfileShare compute_efficiency;
  std::optional<ProfileShare> attention_efficiency{};
  ProfileShare memory_efficiency;
  RooflineBend bend;
  WinogradGain winograd;
  std::vector<LayerEntry> layers;
  std::vector<FittedRange> range;
  std::vector<RooflineSpread> roofline_spread{};
  std::vector<KernelEntry> kernels;
  std::vector<StepCheck> checks{};

  template <class V>
  static void describe(V& v, DeviceProfile& x) {
    v.optional("schema_version", x.schema_version, "of this format; a reader refuses what is newer than itself",
               between(1, kProfileVersion));
    v.required("name", x.name, "what tables call it");
    v.optional("description", x.description, "which device, in which form");
    v.optional("gpu", x.gpu, "model of the GPU without its memory or form, such as H100; null: device.name");
    v.optional("device", x.device, "on what it was measured; null: not measured");
    v.required("peaks", x.peaks, "highest arithmetic rate of each type");
    v.optional("memory", x.memory,
               "how much of it the device has; null: not known, and nothing is said to be too large for it");
    v.required("memory_bandwidth", x.memory_bandwidth, "rate of the device's memory");
    v.required("launch_overhead", x.launch_overhead, "time a kernel takes whatever it does");
    v.optional("clock", x.clock,
               "highest clock of the processors; what a kernel's fixed time goes with from one device to another");
    v.required("compute_efficiency", x.compute_efficiency, "share of the peak that large kernels reach");
    v.optional(
        "attention_efficiency", x.attention_efficiency,
        "share of the peak that fused attention reaches, whose scores stay on the chip (FlashAttention); null: compute_efficiency");
    v.required("memory_efficiency", x.memory_efficiency, "share of the memory bandwidth that large kernels reach");
    v.required("bend", x.bend, "how sharply the roofline bends");
    v.optional("winograd", x.winograd, "arithmetic that 3x3 convolutions save");
    v.optional("layers", x.layers, "layers whose times are known; all others are priced by the roofline");
    v.optional("range", x.range, "kernels that the roofline was fitted on, one range a type; empty: not fitted");
    v.optional("roofline_spread", x.roofline_spread,
               "how far the roofline is from layers that were measured, one a type; empty: not known");
    v.optional("kernels", x.kernels, "kernels of compressors and of updates whose rates are known");
    v.optional("checks", x.checks, "steps that were also measured whole, which no forecast uses");
  }
  bool operator==(const DeviceProfile&) const = default;
};

/// The GPU's model name: `gpu`, or else the driver's name for it. "" if neither is known.
inline std::string gpu_of(const DeviceProfile& profile) {
  return profile.gpu ? *profile.gpu : profile.device ? profile.device->name : "";
}

/// Whether both names may mean the same GPU, as "H100" and "NVIDIA H100 80GB HBM3" do. True if one is empty.
inline bool may_be_same_gpu(std::string_view a, std::string_view b) {
  return a.find(b) != std::string_view::npos || b.find(a) != std::string_view::npos;
}

/// The profile's peak rate for a type; null if there is none.
inline const PeakRate* find_peak(const DeviceProfile& profile, Dtype dtype) {
  const auto found = std::find_if(profile.peaks.begin(), profile.peaks.end(),
                                  [&](const PeakRate& peak) { return peak.dtype == dtype; });
  return found == profile.peaks.end() ? nullptr : &*found;
}

/// The profile's entry for a kernel; null if there is none.
inline const KernelEntry* find_kernel(const DeviceProfile& profile, std::string_view name) {
  const auto found = std::find_if(profile.kernels.begin(), profile.kernels.end(),
                                  [&](const KernelEntry& kernel) { return kernel.name == name; });
  return found == profile.kernels.end() ? nullptr : &*found;
}

}  // namespace stepcast
