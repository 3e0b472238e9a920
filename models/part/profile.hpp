// A device profile: the rates of one accelerator, which give the layer times (models/workload/layer_times.hpp). Every
// entry names its source, so a forecast never presents an assumption as a measurement.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/describe/describe.hpp"
#include "models/part/dtype.hpp"
#include "models/part/kernel_model.hpp"
#include "models/part/measured_kernels.hpp"
#include "models/part/roofline_constants.hpp"

namespace stepcast {

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
    v.required("source", x.source, "origin of the kernels");
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
    v.required("name", x.name, "the driver's name for it");
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
        "time that the events around a sample add to it, subtracted from all times of the profile; null: nothing was "
        "subtracted",
        positive);
  }
  bool operator==(const MeasuredDevice&) const = default;
};

/// Version 1 lacks `device`, and it lacks knots, ranges, errors and spreads of entries.
inline constexpr int kProfileVersion = 2;

/// The fields of a time of t·(per_tensor + r·per_rank) + d·per_element for d elements in t tensors, factorized at rank r.
template <class V, class Times>
void describe_times(V& v, Times& x) {
  v.required("per_tensor", x.per_tensor, "time for each tensor, whatever its size", non_negative);
  v.required("per_element", x.per_element, "time for each element more", non_negative);
  v.optional(
      "per_rank", x.per_rank,
      "time for each column of a tensor's factors: Gram-Schmidt treats them one by one; a method without rank has one",
      non_negative);
}

struct CodecTime {
  Seconds per_tensor{}, per_element{}, per_rank{};

  template <class V>
  static void describe(V& v, CodecTime& x) {
    describe_times(v, x);
  }
  bool operator==(const CodecTime&) const = default;
};

/// The codec of one method in some implementation, in place of the method's kernels. For d elements in t tensors,
/// encoding takes t·(per_tensor + r·per_rank) + d·per_element, and decoding of one message takes `decode`. r is the rank
/// of a tensor's factors, 1 for methods that have none. Tensors that are encoded as one vector are one tensor there.
/// Without `decode`, the first three are the whole codec of one worker: encoding, and decoding of all that came back; each
/// tensor counts.
struct CodecEntry {
  std::string method;
  Seconds per_tensor{}, per_element{}, per_rank{};
  std::optional<CodecTime> decode{};
  bool error_feedback = false;
  Evidence evidence = Evidence::assumed;
  std::string source;

  template <class V>
  static void describe(V& v, CodecEntry& x) {
    v.required("method", x.method, "kind of the compressor");
    describe_times(v, x);
    v.optional("decode", x.decode,
               "time to decode one message. The times above are then of encoding. Kernels add decoded messages up. "
               "null: the times above are of encoding and of decoding all that came back");
    v.optional("error_feedback", x.error_feedback,
               "encoding includes the method's error feedback and momentum; false: kernels do them beside `decode`");
    v.required("evidence", x.evidence, "kind of source");
    v.required("source", x.source, "where both are from");
  }
  bool operator==(const CodecEntry&) const = default;
};

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
  std::optional<ProfileEntry<int>> processors{};
  ProfileShare compute_efficiency;
  std::optional<ProfileShare> attention_efficiency{};
  ProfileShare memory_efficiency;
  RooflineBend bend;
  WinogradGain winograd;
  std::vector<KernelModel> kernel_models{};
  std::optional<SustainedShare> sustained{};
  std::optional<ProfileEntry<Seconds>> host_launch{};
  std::vector<LayerEntry> layers;
  std::vector<FittedRange> range;
  std::vector<RooflineSpread> roofline_spread{};
  std::vector<KernelEntry> kernels;
  std::vector<CodecEntry> codecs{};
  std::vector<StepCheck> checks{};

  template <class V>
  static void describe(V& v, DeviceProfile& x) {
    v.optional("schema_version", x.schema_version, "version of this format; a reader refuses newer ones",
               between(1, kProfileVersion));
    v.required("name", x.name, "its name in tables");
    v.optional("description", x.description, "the device, and its form factor");
    v.optional("gpu", x.gpu, "model of the GPU without its memory or form, such as H100; null: device.name");
    v.optional("device", x.device, "machine of the measurement; null: not measured");
    v.required("peaks", x.peaks, "highest arithmetic rate of each type");
    v.optional("memory", x.memory, "size of the device's memory; null: unknown, and nothing is reported as too large");
    v.required("memory_bandwidth", x.memory_bandwidth, "rate of the device's memory");
    v.required("launch_overhead", x.launch_overhead, "time a kernel takes whatever it does");
    v.optional("clock", x.clock,
               "highest clock of the processors; a kernel's fixed time scales with it from one device to another");
    v.optional("processors", x.processors, "streaming multiprocessors, over which the tiles of products are spread");
    v.required("compute_efficiency", x.compute_efficiency, "share of the peak that large kernels reach");
    v.optional(
        "attention_efficiency", x.attention_efficiency,
        "share of the peak that fused attention reaches, whose scores stay on the chip (FlashAttention); null: compute_efficiency");
    v.required("memory_efficiency", x.memory_efficiency, "share of the memory bandwidth that large kernels reach");
    v.required("bend", x.bend, "how sharply the roofline bends");
    v.optional("winograd", x.winograd, "arithmetic that 3x3 convolutions save");
    v.optional("kernel_models", x.kernel_models,
               "kinds of kernels with constants of their own, fitted to measured kernels; the roofline prices others");
    v.optional("sustained", x.sustained,
               "share of their rates alone that kernels with a model keep in the middle of a step, where clocks fall "
               "under load and caches hold others' data; null: 1");
    v.optional(
        "host_launch", x.host_launch,
        "time in which the host's code launches a kernel, the device waiting if it is quicker: eager code; null: "
        "0, as in CUDA graphs and compiled code");
    v.optional("layers", x.layers, "layers whose times are known; all others are priced by the roofline");
    v.optional("range", x.range, "kernels that the roofline was fitted on, one range a type; empty: not fitted");
    v.optional("roofline_spread", x.roofline_spread,
               "how far the roofline is from layers that were measured, one a type; empty: not known");
    v.optional("kernels", x.kernels, "kernels of compressors and of updates whose rates are known");
    v.optional("codecs", x.codecs,
               "compressors whose codec was timed in some implementation, in place of their kernels");
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

/// The times of a method's codec; null if the profile has none.
inline const CodecEntry* find_codec(const DeviceProfile& profile, std::string_view method) {
  const auto found = std::find_if(profile.codecs.begin(), profile.codecs.end(),
                                  [&](const CodecEntry& codec) { return codec.method == method; });
  return found == profile.codecs.end() ? nullptr : &*found;
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
