#include "calibrate/import/import.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/unit/text_table.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/transfer.hpp"

namespace stepcast::calibrate {
namespace {

/// Rows that one model may serve.
struct Group {
  KernelKind kind{};
  Dtype dtype{};
  std::optional<KernelPass> pass{};  ///< null: any
  auto operator<=>(const Group&) const = default;
};

using GroupedSamples = std::map<Group, std::vector<KernelSample>>;

/// Whether a kind's passes differ in more than their shape or their bytes.
bool differs_by_pass(KernelKind kind) {
  return kind == KernelKind::product || kind == KernelKind::convolution || kind == KernelKind::attention ||
         kind == KernelKind::recurrent || kind == KernelKind::embedding;
}

/// The pass that a model of these rows serves. Kinds bound by memory have one model, unless their passes were measured
/// apart.
std::optional<KernelPass> pass_served(const Group& group, const std::vector<Group>& groups) {
  if (differs_by_pass(group.kind)) return group.pass;
  const auto same = std::count_if(groups.begin(), groups.end(), [&](const Group& other) {
    return other.kind == group.kind && other.dtype == group.dtype;
  });
  return same > 1 ? group.pass : std::nullopt;
}

std::string text_of(const Group& group) {
  return fmt::format("{}, {}, in {}", name_of(group.kind), group.pass ? name_of(*group.pass) : "all passes",
                     name_of(group.dtype));
}

/// Whether a pass has enough products for a model of its own. Those of odd sizes give slowdowns, and no constants.
bool is_own_pass(const std::vector<KernelSample>& rows, Dtype dtype) {
  const auto aligned = std::count_if(rows.begin(), rows.end(),
                                     [&](const KernelSample& row) { return is_aligned(*row.kernel.shape, dtype); });
  return static_cast<std::size_t>(aligned) >= kLeastOfPass &&
         std::any_of(rows.begin(), rows.end(),
                     [&](const KernelSample& row) { return row.family != rows.front().family; });
}

/// Products of other passes lie otherwise in memory, and a library has other kernels for them. Where two passes or more
/// have many samples of even sizes, each of these has a model of its own. A model of the others rests on all samples.
/// Theirs judge it, or all where theirs are few.
void part_products(GroupedSamples& samples, Dtype dtype) {
  constexpr std::size_t kPasses = 3;
  std::vector<Group> passes, own;
  for (const auto& [group, rows] : samples) {
    if (group.kind != KernelKind::product || group.dtype != dtype) continue;
    passes.push_back(group);
    if (is_own_pass(rows, dtype)) own.push_back(group);
  }
  if (own.size() < 2) own.clear();
  if (passes.empty() || own.size() == kPasses) return;
  const auto is_own = [&](const Group& group) { return std::find(own.begin(), own.end(), group) != own.end(); };
  std::size_t others = 0;
  for (const Group& group : passes)
    if (!is_own(group)) others += samples.at(group).size();
  std::vector<KernelSample> all;
  for (const Group& group : passes) {
    for (KernelSample sample : samples.at(group)) {
      sample.judges = !is_own(group) || others < kLeastSamples;
      all.push_back(std::move(sample));
    }
    if (!is_own(group)) samples.erase(group);
  }
  samples[{KernelKind::product, dtype, {}}] = std::move(all);
}

GroupedSamples samples_of(const DeviceProfile& rates, const std::vector<KernelRow>& rows,
                          std::vector<std::string>& left_out) {
  GroupedSamples samples;
  std::map<Group, int> several;
  for (const KernelRow& row : rows) {
    const PassKernels layer = kernels_on(rates, row.shape, row.batch, row.dtype);
    const std::vector<LayerKernel>& kernels = pass_of(layer, row.pass);
    const Group group{kernels.front().kind, row.dtype, row.pass};
    if (kernels.size() > 1) ++several[group];
    else samples[group].push_back({kernels.front(), row.time, row.family});
  }
  for (const auto& [group, count] : several)
    left_out.push_back(fmt::format("{}: {} rows of several kernels, such as a product and its bias; give kernels apart",
                                   text_of(group), count));
  for (const auto& one : Choices<Dtype>::table) part_products(samples, one.value);
  return samples;
}

/// "" for rows that a model can be fitted to.
std::string reason_to_leave_out(const Group& group, const std::vector<KernelSample>& samples, const DeviceProfile& base,
                                const DeviceProfile& rates) {
  for (const DeviceProfile* profile : {&base, &rates}) {
    if (find_peak(*profile, group.dtype) == nullptr)
      return fmt::format("{} has no peak for {}", profile->name, name_of(group.dtype));
    if ((group.kind == KernelKind::product || group.kind == KernelKind::convolution) && !profile->processors)
      return fmt::format("{} has no `processors`, over which tiles are spread", profile->name);
  }
  if (samples.size() < kLeastSamples)
    return fmt::format("{} rows; {} or more determine a model", samples.size(), kLeastSamples);
  if (std::all_of(samples.begin(), samples.end(),
                  [&](const KernelSample& one) { return one.family == samples.front().family; }))
    return "one family of shapes; another one judges the model";
  return "";
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
  const GroupedSamples all = samples_of(rates, rows, result.left_out);
  std::vector<Group> groups;  // those that get a model
  for (const auto& [group, samples] : all)
    if (const std::string reason = reason_to_leave_out(group, samples, base, rates); reason.empty())
      groups.push_back(group);
    else result.left_out.push_back(fmt::format("{}: {}", text_of(group), reason));
  const auto is_replaced = [&](const KernelModel& old) {
    return std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
      if (group.kind != old.kind || group.dtype != old.dtype) return false;
      const std::optional<KernelPass> pass = pass_served(group, groups);
      return old.kind == KernelKind::product || !pass || pass == old.pass;  // new products serve all passes
    });
  };
  std::erase_if(profile.kernel_models, is_replaced);
  for (const Group& group : groups) {
    const KernelKind kind = group.kind;
    const Dtype dtype = group.dtype;
    const std::vector<KernelSample>& samples = all.at(group);
    const DevicePeaks device{find_peak(rates, dtype)->rate, rates.memory_bandwidth.value,
                             rates.processors ? rates.processors->value : 0};
    FittedModel fitted = fit_kernel_model(kind, dtype, samples, device, options.seed);
    KernelModel& model = fitted.model;
    model.pass = pass_served(group, groups);
    model.evidence = options.measured_on ? Evidence::transferred : Evidence::measured;
    model.source = options.source;
    if (fitted.assumed > 0)
      model.source += fmt::format("; so few times leave {} of its constants assumed", fitted.assumed);
    if (options.measured_on) move_rates(model, rates, base);
    if (options.keeps_launch) model.launch = base.launch_overhead.value;
    result.kinds.push_back({kind, dtype, model.pass, samples.size(), fitted.held_out});
    profile.kernel_models.push_back(std::move(model));
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
