#include "models/report/codec_notes.hpp"

#include <fmt/format.h>

#include "models/compressor/codec_rates.hpp"
#include "models/compressor/compressor.hpp"
#include "models/scenario/device_of_codec.hpp"

namespace stepcast {
namespace {

/// The note on an implementation's times.
std::string timed(const CodecEntry& codec, const DeviceProfile& device, const WorkloadTable& table) {
  const std::string gpu = gpu_of(device), workers = table.profile ? gpu_of(*table.profile) : "";
  return fmt::format(
      "the codec of {} takes the times that {} has of it, {}, whatever its parameters{}{}", codec.method, device.name,
      name_of(codec.evidence), codec.per_rank > Seconds{} ? " but the rank" : "",
      may_be_same_gpu(gpu, workers) ? "" : fmt::format("; they are of {}, and the workers are {}", gpu, workers));
}

/// The note on kernels that no one measured on the device, or nothing.
std::string unmeasured(const DeviceProfile& device, const Compressor& compressor) {
  const std::optional<Evidence> evidence = evidence_of_codec(device, compressor);
  if (evidence == Evidence::transferred)
    return fmt::format(
        "the compressor's kernels are priced by {}, transferred from another device and not measured on this one",
        device.name);
  if (evidence) return "";
  return fmt::format(
      "the compressor's kernels are priced by {} as sweeps over the gradient, not measured; kernels composed of a "
      "framework's operations took up to twenty times as long (scenarios/README.md, survey); try that with "
      "/codec/slowdown",
      device.name);
}

}  // namespace

void add_codec_notes(const Scenario& scenario, const StepForecast& forecast, Notes& notes) {
  constexpr double kSeen = 1e-3;
  const DeviceProfile* device = device_of_codec(scenario);
  if (!device) return;
  const auto add = [&](std::string text) {
    if (!text.empty()) notes.push_back({NoteCode::unmeasured_compressor, std::move(text)});
  };
  const auto* sharded = std::get_if<ShardedStrategy>(&scenario.strategy);
  if (sharded && sharded->quantized_gather)
    add(fmt::format("kernels that encode and decode gathered parameters are priced by {} as sweeps, not measured",
                    device->name));
  if (std::holds_alternative<NoCompressor>(scenario.compressor) || forecast.breakdown.codec() <= forecast.step * kSeen)
    return;
  if (const CodecEntry* codec = codec_times(scenario)) {
    notes.push_back({NoteCode::timed_codec, timed(*codec, *device, *scenario.workload)});
    return;
  }
  if (!device->codecs.empty() && !std::holds_alternative<RatioCompressor>(scenario.compressor))  // it has its own costs
    notes.push_back({NoteCode::timed_codec,
                     fmt::format("{} has times of some compressors, but none of {}: its kernels are priced one by one, "
                                 "and the two do not compare",
                                 device->name, name_of(scenario.compressor))});
  if (scenario.codec.slowdown == 1) add(unmeasured(*device, scenario.compressor));
}

}  // namespace stepcast
