#include "calibrate/import/import.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "models/unit/text_table.hpp"
#include "models/workload/layer_times.hpp"

namespace stepcast::calibrate {
namespace {

using Group = std::tuple<KernelKind, Dtype, KernelPass>;

/// Whether a kind's passes differ in more than their shape or their bytes.
bool differs_by_pass(KernelKind kind) {
  return kind == KernelKind::convolution || kind == KernelKind::attention || kind == KernelKind::recurrent ||
         kind == KernelKind::embedding;
}

/// The pass that a model of these rows serves. Products of all passes have one model. So have kinds bound by memory,
/// unless their passes were measured apart.
std::optional<KernelPass> pass_served(const Group& group, const std::vector<Group>& groups) {
  const auto& [kind, dtype, pass] = group;
  if (differs_by_pass(kind)) return pass;
  const auto same = std::count_if(groups.begin(), groups.end(), [&](const Group& other) {
    return std::get<0>(other) == kind && std::get<1>(other) == dtype;
  });
  return same > 1 ? std::optional(pass) : std::nullopt;
}

std::string text_of(const Group& group) {
  const auto& [kind, dtype, pass] = group;
  return fmt::format("{}, {}, in {}", name_of(kind), name_of(pass), name_of(dtype));
}

std::map<Group, std::vector<KernelSample>> samples_of(const DeviceProfile& base, const std::vector<KernelRow>& rows,
                                                      std::vector<std::string>& left_out) {
  std::map<Group, std::vector<KernelSample>> samples;
  std::map<Group, int> several;
  for (const KernelRow& row : rows) {
    const PassKernels layer = kernels_on(base, row.shape, row.batch, row.dtype);
    const std::vector<LayerKernel>& kernels = pass_of(layer, row.pass);
    const bool is_product = kernels.front().kind == KernelKind::product;
    const Group group{kernels.front().kind, row.dtype, is_product ? KernelPass::forward : row.pass};
    if (kernels.size() > 1) ++several[group];
    else samples[group].push_back({kernels.front(), row.time, row.family});
  }
  for (const auto& [group, count] : several)
    left_out.push_back(fmt::format("{}: {} rows of several kernels, such as a product and its bias; give kernels apart",
                                   text_of(group), count));
  return samples;
}

std::string errors_text(const FitErrors& errors) {
  if (errors.held_out == 0) return "-";
  return fmt::format("{:.1f} / {:.1f} %", 100 * errors.median, 100 * errors.p90);
}

}  // namespace

Import import_kernels(const DeviceProfile& base, const std::vector<KernelRow>& rows, const ImportOptions& options) {
  Import result{base, {}, {}};
  DeviceProfile& profile = result.profile;
  const DeviceProfile& rates = options.measured_on ? *options.measured_on : base;
  profile.schema_version = kProfileVersion;
  profile.name = options.name;
  if (!options.description.empty()) profile.description = options.description;
  const std::map<Group, std::vector<KernelSample>> all = samples_of(base, rows, result.left_out);
  std::vector<Group> groups;
  for (const auto& [group, samples] : all) groups.push_back(group);
  for (const auto& [group, samples] : all) {
    const auto& [kind, dtype, pass] = group;
    const PeakRate* peak = find_peak(rates, dtype);
    const bool tiles = kind == KernelKind::product || kind == KernelKind::convolution;
    std::string reason;
    if (peak == nullptr) reason = fmt::format("{} has no peak for {}", rates.name, name_of(dtype));
    else if (tiles && !rates.processors)
      reason = fmt::format("{} has no `processors`, over which tiles are spread", rates.name);
    else if (samples.size() < kLeastSamples)
      reason = fmt::format("{} rows; {} or more determine a model", samples.size(), kLeastSamples);
    if (!reason.empty()) {
      result.left_out.push_back(fmt::format("{}: {}", text_of(group), reason));
      continue;
    }
    const DevicePeaks device{peak->rate, rates.memory_bandwidth.value, rates.processors ? rates.processors->value : 0};
    FittedModel fitted = fit_kernel_model(kind, dtype, samples, device, options.seed);
    fitted.model.pass = pass_served(group, groups);
    fitted.model.evidence = options.measured_on ? Evidence::transferred : Evidence::measured;
    fitted.model.source = options.source;
    if (options.keeps_launch) fitted.model.launch = base.launch_overhead.value;
    std::erase_if(profile.kernel_models, [&](const KernelModel& old) {
      return old.kind == kind && old.dtype == dtype && old.pass == fitted.model.pass;
    });
    profile.kernel_models.push_back(std::move(fitted.model));
    result.kinds.push_back({kind, dtype, pass_served(group, groups), samples.size(), fitted.held_out});
  }
  return result;
}

std::string import_table(const Import& import) {
  TextTable table(3);
  table.add({"kernel", "type", "pass", "rows", "held out", "error p50 / p90", "of 20 us and more", "bias"});
  for (const Import::Kind& one : import.kinds)
    table.add({std::string(name_of(one.kind)), std::string(name_of(one.dtype)),
               one.pass ? std::string(name_of(*one.pass)) : "any", std::to_string(one.samples),
               std::to_string(one.held_out.all.held_out), errors_text(one.held_out.all),
               errors_text(one.held_out.long_ones), fmt::format("{:+.1f} %", 100 * one.held_out.bias)});
  return table.text();
}

}  // namespace stepcast::calibrate
