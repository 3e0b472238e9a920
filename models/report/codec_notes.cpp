#include "models/report/codec_notes.hpp"

#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "models/compressor/codec_rates.hpp"
#include "models/compressor/compressor.hpp"
#include "models/part/strategy_parts.hpp"
#include "models/scenario/device_of_codec.hpp"
#include "models/scenario/summed_workers.hpp"
#include "models/scenario/tensor_compressors.hpp"

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
/// @param whose  the kernels
std::string unmeasured(const DeviceProfile& device, const Compressor& compressor, const std::string& whose) {
  const std::optional<Evidence> evidence = evidence_of_codec(device, compressor);
  if (evidence == Evidence::transferred)
    return fmt::format("{} are priced by {}, transferred from another device and not measured on this one", whose,
                       device.name);
  if (evidence) return "";
  return fmt::format(
      "{} are priced by {} as sweeps over the gradient, not measured; kernels composed of a framework's operations took "
      "up to twenty times as long (scenarios/README.md, survey); try that with /codec/slowdown",
      whose, device.name);
}

/// "8 of 161 tensors" and "2.5 % of the gradient's bytes"
struct CountText {
  std::string tensors, bytes;
};
CountText text_of(const TensorCount& count, const Workload& workload) {
  return {fmt::format("{} of {} tensors", count.tensors, workload.gradients.size()),
          fmt::format("{:.2g} % of the gradient's bytes", 100 * (count.bytes / workload.gradient_bytes))};
}

/// Notes patterns that no tensor's name matches.
void add_dead_patterns(const std::string& place, const std::vector<std::string>& patterns, const Workload& workload,
                       Notes& notes) {
  for (const std::string& pattern : patterns)
    if (!matches_any(pattern, workload))
      notes.push_back({NoteCode::no_effect, fmt::format("{}: no tensor's name matches \"{}\"; the first is \"{}\"",
                                                        place, pattern, workload.gradients.front().name)});
}

}  // namespace

void add_codec_notes(const Scenario& scenario, const StepForecast& forecast, Notes& notes) {
  constexpr double kSeen = 1e-3;
  const DeviceProfile* device = device_of_codec(scenario);
  if (!device) return;
  const auto add = [&](std::string text) {
    if (!text.empty()) notes.push_back({NoteCode::unmeasured_compressor, std::move(text)});
  };
  if (quantized_gather_of(scenario.strategy))
    add(fmt::format("kernels that encode and decode gathered parameters are priced by {} as sweeps, not measured",
                    device->name));
  if (std::holds_alternative<NoCompressor>(scenario.compressor) || forecast.breakdown.codec() <= forecast.step * kSeen)
    return;
  std::set<std::string_view> known;
  for (const Compressor* compressor : all_compressors_of(scenario)) {
    const std::string_view name = name_of(*compressor);
    if (!known.insert(name).second) continue;
    if (const CodecEntry* codec = codec_times(scenario, *compressor)) {
      notes.push_back({NoteCode::timed_codec, timed(*codec, *device, *scenario.workload)});
      continue;
    }
    if (!device->codecs.empty() && !std::holds_alternative<RatioCompressor>(*compressor))  // it has its own costs
      notes.push_back(
          {NoteCode::timed_codec,
           fmt::format("{} has times of some compressors, but none of {}: its kernels are priced one by one, "
                       "and the two do not compare",
                       device->name, name)});
    if (scenario.codec.slowdown == 1)
      add(unmeasured(*device, *compressor,
                     compressor == &scenario.inner_compressor ? "the inner compressor's kernels"
                     : scenario.other_compressors             ? fmt::format("kernels of {}", name)
                                                              : "the compressor's kernels"));
  }
}

void add_compressed_tensors(const Scenario& scenario, const Workload& workload, Notes& notes) {
  const CodecSettings& codec = scenario.codec;
  if (!compresses_tensors(scenario.compressor) &&
      !(compresses_inside(scenario) && compresses_tensors(scenario.inner_compressor)))
    return;
  if (may_leave_whole(codec)) {
    const auto [tensors, bytes] = text_of(count_tensors(scenario, workload, {}), workload);
    notes.push_back({NoteCode::whole_tensors, fmt::format("{} are not compressed: {}", tensors, bytes)});
  }
  if (codec.whole) add_dead_patterns("codec whole", *codec.whole, workload, notes);
  const std::span<const OtherCompressor> others = others_of(scenario);
  for (std::size_t i = 0; i < others.size(); ++i) {
    const auto [tensors, bytes] = text_of(count_tensors(scenario, workload, i + 1), workload);
    notes.push_back({NoteCode::other_compressors, fmt::format("/other_compressors/{}, {}, has {}: {}", i,
                                                              name_of(others[i].compressor), tensors, bytes)});
    add_dead_patterns(fmt::format("/other_compressors/{}", i), others[i].tensors, workload, notes);
  }
}

}  // namespace stepcast
