#include "models/workload/timing_notes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/unit/format.hpp"
#include "models/workload/blocks.hpp"
#include "models/workload/kernel_time.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/spread.hpp"

namespace stepcast {
namespace {

/// The number of layers that a note names. It counts the rest.
constexpr std::size_t kNamed = 3;

constexpr Evidence kUnmeasured[] = {Evidence::fitted, Evidence::transferred, Evidence::datasheet, Evidence::recalled,
                                    Evidence::assumed};

/// "conv1, bn1, relu and 172 more"
std::string few_of(const std::vector<std::string>& names) {
  const std::size_t named = std::min(kNamed, names.size());
  const std::string rest = names.size() > named ? fmt::format(" and {} more", names.size() - named) : "";
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "), rest);
}

std::string_view times_are(std::size_t count) { return count == 1 ? "time is" : "times are"; }

/// The roofline's unmeasured constants for this table: "peak, memory bandwidth datasheet; launch overhead assumed".
std::string unmeasured(const WorkloadTable& listed, const DeviceProfile& profile) {
  struct Constant {
    std::string_view name;
    Evidence evidence;
  };
  std::vector<Constant> constants;
  const Dtype dtype = compute_dtype_of(listed);
  for (const PeakRate& peak : profile.peaks)
    if (peak.dtype == dtype || (casts(listed) && peak.dtype == listed.dtype))
      constants.push_back({"peak", peak.evidence});
  constants.insert(constants.end(), {{"memory bandwidth", profile.memory_bandwidth.evidence},
                                     {"launch overhead", profile.launch_overhead.evidence},
                                     {"compute efficiency", profile.compute_efficiency.evidence}});
  const bool attends = std::any_of(listed.layers.begin(), listed.layers.end(),
                                   [](const Layer& layer) { return layer.shape && is_fused_attention(*layer.shape); });
  if (attends && profile.attention_efficiency)
    constants.push_back({"attention efficiency", profile.attention_efficiency->evidence});
  constants.insert(constants.end(),
                   {{"memory efficiency", profile.memory_efficiency.evidence}, {"bend", profile.bend.evidence}});
  // The default means no gain, so it needs no evidence.
  const bool convolves = std::any_of(listed.layers.begin(), listed.layers.end(), [](const Layer& layer) {
    return layer.shape && std::holds_alternative<Conv2d>(*layer.shape);
  });
  if (convolves && dtype == Dtype::fp32 && profile.winograd.value != 1)
    constants.push_back({"Winograd's gain", profile.winograd.evidence});
  std::string text;
  for (const Evidence evidence : kUnmeasured) {
    std::vector<std::string_view> names;
    for (const Constant& constant : constants)
      if (constant.evidence == evidence && (names.empty() || names.back() != constant.name))  // two peaks
        names.push_back(constant.name);
    if (!names.empty())
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", fmt::join(names, ", "), name_of(evidence));
  }
  return text;
}

/// The types that forward and backward compute in: "bf16", "bf16 and fp32".
std::string types_of(const WorkloadTable& table) {
  const std::string_view narrow = name_of(compute_dtype_of(table));
  return casts(table) ? fmt::format("{} and {}", narrow, name_of(table.dtype)) : std::string(narrow);
}

/// The kinds of this table's kernels whose models are unmeasured: "product, norm transferred". @pre listed
std::string unmeasured_kinds(const WorkloadTable& listed, const DeviceProfile& profile) {
  if (profile.kernel_models.empty()) return "";
  std::map<Evidence, std::set<std::string_view>> names;
  const auto collect = [&](const std::vector<LayerKernel>& part, KernelPass pass, Dtype dtype) {
    for (const LayerKernel& kernel : part) {
      const KernelModel* model = find_model(profile, kernel.kind, pass, dtype);
      if (!model) continue;
      names[model->evidence].insert(name_of(kernel.kind));
      if (profile.sustained && profile.sustained->holds_for(*model))
        names[profile.sustained->evidence].insert("sustained share");
    }
  };
  const auto collect_all = [&](const PassKernels& kernels, Dtype dtype) {
    collect(kernels.forward, KernelPass::forward, dtype);
    collect(kernels.data_gradient, KernelPass::data_gradient, dtype);
    collect(kernels.weight_gradient, KernelPass::weight_gradient, dtype);
  };
  const std::vector<LayerPrecision> precisions = precisions_of(listed, 1);
  for (std::size_t i = 0; i < listed.layers.size(); ++i) {
    const Dtype dtype = precisions[i].dtype;
    collect_all(kernels_on(profile, *listed.layers[i].shape, 1, dtype), dtype);
    collect_all(precisions[i].beside, precisions[i].beside_dtype);
  }
  std::string text;
  for (const Evidence evidence : kUnmeasured)
    if (const auto found = names.find(evidence); found != names.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", fmt::join(found->second, ", "), name_of(evidence));
  return text;
}

/// How much longer forward and backward take because the device waits for the host's launches.
Seconds wait_for_host(const WorkloadTable& table) {
  if (!table.profile->host_launch) return {};
  DeviceProfile without = *table.profile;
  without.host_launch.reset();
  Seconds wait{};
  const WorkloadTable with = time_layers(table, *table.profile, table.batch),
                      ideal = time_layers(table, without, table.batch);
  for (std::size_t i = 0; i < with.layers.size(); ++i)
    wait += with.layers[i].forward + with.layers[i].backward - ideal.layers[i].forward - ideal.layers[i].backward;
  return wait;
}

/// "forward 1.31 times, backward 1.18 times what the profile \"a100\" says, as given for batch 32 in fp32"
std::string corrected(const WorkloadTable& table) {
  const MeasuredTimes& measured = *table.measured;
  const Corrections factors = corrections_of(table);
  std::vector<std::string> parts;
  const auto tell = [&](const char* name, const std::optional<Seconds>& known, double factor) {
    if (known) parts.push_back(fmt::format("{} {:.3g} times", name, factor));
  };
  tell("forward", measured.forward, factors.forward);
  tell("backward", measured.backward, factors.backward);
  if (measured.update && *measured.update == Seconds{}) parts.emplace_back("no update apart and otherwise");
  else tell("update", measured.update, factors.update);
  return fmt::format("{} the forecast of profile \"{}\", as given for batch {} in {}", fmt::join(parts, ", "),
                     measured.profile.name, measured.batch, name_of(measured.dtype));
}

/// The note on the roofline's own error.
std::string roofline_text(const DeviceProfile& profile, Dtype dtype) {
  const RooflineSpread* known = find_roofline_spread(profile, dtype);
  if (known == nullptr) return "whose own error is unknown: an error band leaves it out";
  return fmt::format("which is within a factor {:.3g} of {} {} {} {} of layers in {}", 1 + known->spread,
                     known->parts >= 9 ? "nine tenths of" : "all", known->parts, name_of(known->evidence),
                     known->parts == 1 ? "part" : "parts", name_of(known->dtype));
}

/// A part of a layer's time (forward, a gradient), or the update.
struct Part {
  std::string_view layer;
  Seconds time{};
  bool by_roofline = false;   ///< the roofline prices it, or some of its kernels
  bool extrapolated = false;  ///< a kernel is beyond those that the roofline or its kind's model was fitted on
};

Part part_of(std::string_view layer, const std::vector<LayerKernel>& kernels, KernelPass pass, Dtype dtype,
             Seconds time, const DeviceProfile& profile) {
  Part part{layer, time};
  bool has_model = false;
  for (const LayerKernel& kernel : kernels) {
    const KernelModel* model = find_model(profile, kernel.kind, pass, dtype);
    has_model |= model != nullptr;
    part.by_roofline |= model == nullptr;
    part.extrapolated |= model ? !covers(*model, kernel) : !covers(profile, kernel.work, dtype);
  }
  if (!has_model) part.extrapolated = !covers(profile, sum_of(kernels), dtype);
  return part;
}

/// The parts of a step that take time, in the table's order, with the update last. @pre the table passed list_gradients
std::vector<Part> parts_of(const WorkloadTable& listed, const DeviceProfile& profile, int batch) {
  std::vector<Part> parts;
  const std::vector<LayerPrecision> precisions = precisions_of(listed, batch);
  std::vector<double> forwards(listed.layers.size(), 1.0);
  for (const LayerRange& block : recomputed_blocks(listed))
    std::fill_n(forwards.begin() + static_cast<std::ptrdiff_t>(block.first), block.last - block.first, 2.0);
  for (std::size_t i = 0; i < listed.layers.size(); ++i) {
    const Layer& layer = listed.layers[i];
    const auto add_all = [&](const PassKernels& kernels, const LayerTimes& times, Dtype dtype,
                             const LayerEntry* entry) {
      const auto add = [&](const std::vector<LayerKernel>& part, KernelPass pass, Seconds time, bool has_entry) {
        if (has_entry) parts.push_back({layer.name, time});
        else if (!part.empty()) parts.push_back(part_of(layer.name, part, pass, dtype, time, profile));
      };
      add(kernels.forward, KernelPass::forward, times.forward * forwards[i], entry && entry->forward);
      // A network does not need the gradient of its input.
      if (i > 0)
        add(kernels.data_gradient, KernelPass::data_gradient, times.data_gradient, entry && entry->data_gradient);
      add(kernels.weight_gradient, KernelPass::weight_gradient, times.weight_gradient, entry && entry->weight_gradient);
    };
    const Dtype dtype = precisions[i].dtype;
    add_all(kernels_on(profile, *layer.shape, batch, dtype), times_of(profile, *layer.shape, batch, dtype), dtype,
            find_entry(profile, *layer.shape, batch, dtype));
    add_all(precisions[i].beside, times_beside(profile, precisions[i]), precisions[i].beside_dtype, nullptr);
  }
  const Update update = update_of(listed, profile);
  const bool by_roofline = update.entry == nullptr;
  parts.push_back(
      {"update", time_of(update, profile), by_roofline, by_roofline && !covers(profile, update.work, update.dtype)});
  return parts;
}

/// Whether the update's entry serves a kernel whose size is outside its fit.
bool is_beyond_entry(const Update& update) {
  if (update.entry == nullptr || !update.entry->range) return false;
  const BytesRange& range = *update.entry->range;
  return std::any_of(update.kernels.begin(), update.kernels.end(),
                     [&](const KernelWork& kernel) { return kernel.bytes < range.min || kernel.bytes > range.max; });
}

/// The layers that an entry with this evidence times, each once; "update" last.
std::vector<std::string> timed_by(Evidence evidence, const WorkloadTable& listed, const DeviceProfile& profile,
                                  int batch) {
  std::vector<std::string> names;
  const std::vector<LayerPrecision> precisions = precisions_of(listed, batch);
  for (std::size_t i = 0; i < listed.layers.size(); ++i)
    if (const LayerEntry* entry = find_entry(profile, *listed.layers[i].shape, batch, precisions[i].dtype);
        entry != nullptr && entry->evidence == evidence)
      names.push_back(listed.layers[i].name);
  if (const Update update = update_of(listed, profile); update.entry != nullptr && update.entry->evidence == evidence)
    names.emplace_back("update");
  return names;
}

}  // namespace

std::vector<std::string> extrapolated_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch) {
  std::vector<std::string> names;
  if (!gives_shapes(table)) return names;
  const WorkloadTable listed = list_gradients(table);
  for (const Part& part : parts_of(listed, profile, batch))
    if (part.extrapolated && (names.empty() || names.back() != part.layer)) names.emplace_back(part.layer);
  if (is_beyond_entry(update_of(listed, profile))) names.emplace_back("update");
  return names;
}

TimeByRoofline time_by_roofline(const WorkloadTable& table, const DeviceProfile& profile, int batch) {
  const WorkloadTable listed = list_gradients(table);
  TimeByRoofline time;
  for (const Part& part : parts_of(listed, profile, batch)) {
    time.all += part.time;
    if (part.by_roofline) time.by_roofline += part.time;
  }
  return time;
}

Notes timing_notes(const WorkloadTable& table) {
  Notes notes;
  if (!gives_shapes(table) || !table.profile) return notes;
  const DeviceProfile& profile = *table.profile;
  const WorkloadTable listed = list_gradients(table);
  if (table.measured) notes.push_back({NoteCode::corrected_times, corrected(table)});
  for (const Evidence evidence : kUnmeasured)
    if (const std::vector<std::string> names = timed_by(evidence, listed, profile, table.batch); !names.empty())
      notes.push_back(
          {NoteCode::unmeasured_layers,
           fmt::format("{} {} from entries of the profile \"{}\" that are {}, not measured: {}", names.size(),
                       times_are(names.size()), profile.name, name_of(evidence), few_of(names))});
  const std::vector<Part> parts = parts_of(listed, profile, table.batch);
  const bool asks_roofline = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.by_roofline; });
  if (const std::string constants = asks_roofline ? unmeasured(listed, profile) : ""; !constants.empty())
    notes.push_back({NoteCode::unmeasured_constants,
                     fmt::format("{} from the profile \"{}\", not measured: {}",
                                 table.measured ? "each layer's part follows"
                                                : fmt::format("layer times in {} follow", types_of(table)),
                                 profile.name, constants)});
  if (const Seconds waiting = wait_for_host(table); waiting > Seconds{})
    notes.push_back({NoteCode::host_launches,
                     fmt::format("forward and backward wait {} for the host, whose code launches a kernel in {} ({})",
                                 human_text(waiting), human_text(profile.host_launch->value),
                                 name_of(profile.host_launch->evidence))});
  if (const std::string kinds = unmeasured_kinds(listed, profile); !kinds.empty())
    notes.push_back(
        {NoteCode::unmeasured_constants,
         fmt::format("kernels by the profile \"{}\", not measured on this device: {}", profile.name, kinds)});
  const std::vector<std::string> layers = extrapolated_layers(table, profile, table.batch);
  if (!layers.empty())
    notes.push_back({NoteCode::extrapolated_layers,
                     fmt::format("{} {} extrapolated beyond the kernels that the profile \"{}\" was fitted on: {}",
                                 layers.size(), times_are(layers.size()), profile.name, few_of(layers))});
  if (profile.layers.empty() && !has_spread(profile)) return notes;
  if (const TimeByRoofline time = time_by_roofline(table, profile, table.batch); time.by_roofline > Seconds{})
    notes.push_back(
        {NoteCode::roofline_share,
         fmt::format(
             "{:.3g} % of forward, backward and update has no entry in the profile \"{}\" but follows from the roofline, {}",
             100 * (time.by_roofline / time.all), profile.name, roofline_text(profile, compute_dtype_of(table)))});
  return notes;
}

}  // namespace stepcast
