#include "models/workload/timing_notes.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/workload/layer_times.hpp"
#include "models/workload/spread.hpp"

namespace stepcast {
namespace {

/// How many layers a note names; it counts the rest.
constexpr std::size_t kNamed = 3;

/// "peak, memory bandwidth datasheet; launch overhead assumed" of the constants that the roofline takes for the table.
std::string unmeasured(const WorkloadTable& table, const DeviceProfile& profile) {
  struct Constant {
    std::string_view name;
    Evidence evidence;
  };
  std::vector<Constant> constants;
  for (const PeakRate& peak : profile.peaks)
    if (peak.dtype == table.dtype) constants.push_back({"peak", peak.evidence});
  constants.insert(constants.end(), {{"memory bandwidth", profile.memory_bandwidth.evidence}, {"launch overhead", profile.launch_overhead.evidence},
                                     {"compute efficiency", profile.compute_efficiency.evidence},
                                     {"memory efficiency", profile.memory_efficiency.evidence}, {"bend", profile.bend.evidence}});
  // The default, no gain, is nobody's claim.
  if (table.dtype == Dtype::fp32 && profile.winograd.value != 1) constants.push_back({"Winograd's gain", profile.winograd.evidence});
  std::string text;
  for (const Evidence evidence : {Evidence::transferred, Evidence::datasheet, Evidence::recalled, Evidence::assumed}) {
    std::vector<std::string_view> names;
    for (const Constant& constant : constants)
      if (constant.evidence == evidence) names.push_back(constant.name);
    if (!names.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", fmt::join(names, ", "), name_of(evidence));
  }
  return text;
}

/// What is known of the roofline's own error.
std::string roofline_text(const DeviceProfile& profile, Dtype dtype) {
  const RooflineSpread* known = find_roofline_spread(profile, dtype);
  if (known == nullptr) return "whose own error is not known: an error band leaves it out";
  return fmt::format("which is off by up to a factor {:.3g} ({}, {} {} parts of layers)", 1 + known->spread, name_of(known->dtype), known->parts, name_of(known->evidence));
}

}  // namespace

std::vector<std::string> extrapolated_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch) {
  std::vector<std::string> names;
  if (!gives_shapes(table) || profile.range.empty()) return names;
  const WorkloadTable listed = list_gradients(table);
  for (const Layer& layer : listed.layers) {
    const LayerEntry* entry = find_entry(profile, *layer.shape, batch, table.dtype);
    const LayerWork work = work_on(profile, *layer.shape, batch, table.dtype);
    const auto beyond = [&](bool known, const KernelWork& part) { return !known && !covers(profile, part, table.dtype); };
    const bool first = &layer == &listed.layers.front();
    if (beyond(entry && entry->forward, work.forward) || beyond(first || (entry && entry->data_gradient), work.data_gradient) || beyond(entry && entry->weight_gradient, work.weight_gradient))
      names.push_back(layer.name);
  }
  if (const Update update = update_of(listed, profile); !covers(profile, update.work, update.dtype)) names.emplace_back("update");
  return names;
}

TimeByRoofline time_by_roofline(const WorkloadTable& table, const DeviceProfile& profile, int batch) {
  const WorkloadTable listed = list_gradients(table);
  TimeByRoofline time;
  const auto add = [&](Seconds part, bool known) {
    time.all += part;
    if (!known) time.by_roofline += part;
  };
  for (const Layer& layer : listed.layers) {
    const LayerTimes times = times_of(profile, *layer.shape, batch, table.dtype);
    const LayerEntry* entry = find_entry(profile, *layer.shape, batch, table.dtype);
    add(times.forward, entry && entry->forward);
    if (&layer != &listed.layers.front()) add(times.data_gradient, entry && entry->data_gradient);
    add(times.weight_gradient, entry && entry->weight_gradient);
  }
  const Update update = update_of(listed, profile);
  add(roofline(update.work, profile, update.dtype), false);
  return time;
}

std::vector<std::string> timing_notes(const WorkloadTable& table) {
  std::vector<std::string> notes;
  if (!gives_shapes(table) || !table.profile) return notes;
  const DeviceProfile& profile = *table.profile;
  if (const std::string constants = unmeasured(table, profile); !constants.empty())
    notes.push_back(fmt::format("layer times follow from the profile \"{}\", not measured: {}", profile.name, constants));
  const std::vector<std::string> layers = extrapolated_layers(table, profile, table.batch);
  if (!layers.empty()) {
    const std::size_t named = std::min(kNamed, layers.size());
    const std::string rest = layers.size() > named ? fmt::format(" and {} more", layers.size() - named) : "";
    notes.push_back(fmt::format("{} time{} extrapolated beyond the kernels that the profile \"{}\" was fitted on: {}{}", layers.size(), layers.size() == 1 ? " is" : "s are", profile.name,
                                fmt::join(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(named), ", "), rest));
  }
  if (profile.layers.empty() && !has_spread(profile)) return notes;
  if (const TimeByRoofline time = time_by_roofline(table, profile, table.batch); time.by_roofline > Seconds{})
    notes.push_back(fmt::format("{:.3g} % of forward, backward and update has no entry in the profile \"{}\" but follows from the roofline, {}", 100 * (time.by_roofline / time.all), profile.name,
                                roofline_text(profile, table.dtype)));
  return notes;
}

}  // namespace stepcast
