#include "models/report/codec_notes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/compressor/codec_rates.hpp"
#include "models/compressor/compressor.hpp"

namespace stepcast {
namespace {

/// The profile that prices a scenario's compressor, if any does.
const DeviceProfile* codec_device(const Scenario& scenario) {
  if (scenario.codec.device) return &*scenario.codec.device;
  return scenario.workload->profile ? &*scenario.workload->profile : nullptr;
}

/// The note that the device's codecs were timed on another GPU than the workers', or nothing.
std::string on_another_gpu(const DeviceProfile& device, const WorkloadTable& table) {
  if (!device.gpu || !table.profile || !table.profile->gpu || device.gpu == table.profile->gpu) return "";
  return fmt::format("the compressor's times are of an implementation on {} ({}), and the workers are {}", *device.gpu,
                     device.name, *table.profile->gpu);
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
  const DeviceProfile* device = codec_device(scenario);
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
  const std::string_view method = name_of(scenario.compressor);
  if (std::any_of(device->codecs.begin(), device->codecs.end(),
                  [&](const CodecEntry& codec) { return codec.method == method; })) {
    add(on_another_gpu(*device, *scenario.workload));
    return;
  }
  if (!device->codecs.empty() && !std::holds_alternative<RatioCompressor>(scenario.compressor))  // it has its own costs
    add(fmt::format(
        "{} has codecs that were timed whole, but none of {}: its kernels are priced one by one, and the two "
        "do not compare",
        device->name, method));
  if (scenario.codec.slowdown == 1) add(unmeasured(*device, scenario.compressor));
}

}  // namespace stepcast
