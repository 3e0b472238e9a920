#include "calibrate/profile_of_samples.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/calibration_error.hpp"
#include "calibrate/event_overhead.hpp"
#include "calibrate/piecewise.hpp"
#include "calibrate/statistics.hpp"
#include "models/workload/layer_times.hpp"
#include "models/workload/spread.hpp"
#include "models/workload/workload.hpp"

namespace stepcast::calibrate {
namespace {

double rounded(double value) { return std::strtod(fmt::format("{:.5e}", value).c_str(), nullptr); }
template <class Q>
Q rounded(Q value) {
  return Q(rounded(value.si()));
}

/// The factor 1 + s that factors 1 + x of independent causes come to at the most.
double combined(std::initializer_list<double> parts) {
  double factor = 1;
  for (const double part : parts) factor *= 1 + part;
  return factor - 1;
}

double spread_of(const Pooled& one) { return rounded(combined({one.iqr / 2, one.start_spread / 2})); }

using ByName = std::map<std::string, std::map<std::int64_t, Pooled>>;

const Pooled& own_rate(const ByName& pooled, const std::string& name) {
  const auto found = pooled.find(name);
  if (found == pooled.end() || found->second.empty())
    throw CalibrationError("there are no samples of " + name +
                           ", without which no profile can be written: run the same command again");
  return std::prev(found->second.end())->second;
}

EventOverhead overhead_in(const ByName& raw) {
  const Pooled &single = own_rate(raw, own::kSingle), &chain = own_rate(raw, own::kLaunch);
  return event_overhead(single.median, chain.repeats * chain.median, chain.repeats);
}

/// The timings and figures of a role.
struct RoleSamples {
  std::vector<Timing> timings;
  std::set<std::string> methods;
  std::vector<double> iqrs, start_spreads;  ///< the latter of sizes with several starts
  std::int64_t samples = 0, discarded = 0;
};

/// The samples of each role. Those of each compressor are apart, too, if the role has several.
std::map<std::string, RoleSamples> by_entry(const ByName& pooled) {
  std::map<std::string, RoleSamples> entries;
  std::map<std::string, std::set<std::string_view>> compressors_of_role;
  const auto add = [&](const std::string& entry, std::int64_t size, const Pooled& one) {
    RoleSamples& samples = entries[entry];
    samples.timings.push_back({size, one.bytes, one.flops, one.median});
    samples.methods.insert(one.method);
    samples.iqrs.push_back(one.iqr);
    if (one.starts > 1) samples.start_spreads.push_back(one.start_spread);
    samples.samples += one.samples;
    samples.discarded += one.discarded;
  };
  for (const auto& [name, sizes] : pooled)
    for (const auto& [size, one] : sizes)
      if (!one.role.empty()) compressors_of_role[one.role].insert(compressor_of(one.method));
  for (const auto& [name, sizes] : pooled)
    for (const auto& [size, one] : sizes) {
      if (one.role.empty()) continue;
      add(one.role, size, one);
      if (compressors_of_role.at(one.role).size() > 1)
        add(fmt::format("{}/{}", one.role, compressor_of(one.method)), size, one);
    }
  return entries;
}

std::size_t distinct_sizes(const std::vector<Timing>& timings) {
  std::set<std::int64_t> sizes;
  for (const Timing& timing : timings) sizes.insert(timing.size);
  return sizes.size();
}

/// @throws std::invalid_argument where the role cannot be fitted
KernelEntry entry_of(const std::string& name, const RoleSamples& role, std::uint64_t seed) {
  const Judged judged = fit_and_judge(role.timings, seed);
  const auto [least, most] = std::minmax_element(role.timings.begin(), role.timings.end(),
                                                 [](const Timing& a, const Timing& b) { return a.bytes < b.bytes; });
  KernelEntry entry;
  entry.name = name;
  entry.launch = rounded(Seconds(judged.fit.launch));
  entry.bandwidth = rounded(BytesPerSecond(1 / judged.fit.slope));
  if (judged.fit.seconds_per_flop > 0) entry.peak = rounded(FlopsPerSecond(1 / judged.fit.seconds_per_flop));
  entry.evidence = Evidence::measured;
  entry.source =
      fmt::format("stepcast-calibrate, L2 flushed before each time; methods {}", fmt::join(role.methods, ", "));
  // Rounding must not let time fall from one knot to the next.
  Seconds before = entry.launch;
  for (const auto& knot : judged.fit.knots) {
    before = std::max(before, rounded(Seconds(knot.seconds)));
    entry.knots.push_back({rounded(Bytes(knot.bytes)), before});
  }
  entry.range = BytesRange{Bytes(least->bytes), Bytes(most->bytes)};
  entry.errors = FitErrors{rounded(judged.median_error), rounded(judged.p90_error), rounded(judged.largest_error),
                           judged.fitted, judged.held_out};
  entry.iqr = rounded(median(role.iqrs));
  if (!role.start_spreads.empty()) entry.start_spread = rounded(median(role.start_spreads));
  entry.spread = rounded(combined({*entry.iqr / 2, entry.start_spread.value_or(0) / 2, judged.median_error}));
  entry.samples = role.samples;
  entry.discarded = role.discarded;
  return entry;
}

const Pooled* find(const ByName& pooled, const std::string& name, std::int64_t size) {
  const auto found = pooled.find(name);
  if (found == pooled.end()) return nullptr;
  const auto at = found->second.find(size);
  return at == found->second.end() ? nullptr : &at->second;
}

/// An entry's iqr and start_spread are the largest of its parts'.
std::optional<LayerEntry> entry_of(const LayerToMeasure& layer, const ByName& pooled, ConvolutionPath path) {
  LayerEntry entry;
  entry.shape = layer.shape;
  entry.batch = layer.batch;
  entry.dtype = layer.dtype;
  entry.evidence = Evidence::measured;
  entry.source = "stepcast-calibrate, L2 flushed before each time";
  if (std::holds_alternative<Conv2d>(layer.shape)) entry.source += fmt::format("; convolution by {}", name_of(path));
  double iqr = 0, starts = 0;
  bool has_starts = false;
  std::int64_t samples = 0, discarded = 0;
  const auto part = [&](const std::optional<kernels::Kernel>& kernel, std::optional<Seconds>& time) {
    const Pooled* one = kernel ? find(pooled, subject_name(*kernel), layer.batch) : nullptr;
    if (one == nullptr) return;
    time = rounded(Seconds(one->median));
    iqr = std::max(iqr, one->iqr);
    starts = std::max(starts, one->start_spread);
    has_starts |= one->starts > 1;
    samples += one->samples;
    discarded += one->discarded;
  };
  part(layer.kernels.forward, entry.forward);
  part(layer.kernels.data_gradient, entry.data_gradient);
  part(layer.kernels.weight_gradient, entry.weight_gradient);
  if (samples == 0) return {};
  entry.iqr = rounded(iqr);
  if (has_starts) entry.start_spread = rounded(starts);
  entry.spread = rounded(combined({iqr / 2, starts / 2}));
  entry.samples = samples;
  entry.discarded = discarded;
  return entry;
}

StepCheck check_of(const StepToMeasure& step, const Pooled& measured, const DeviceProfile& profile) {
  return {step.table.name,
          step.variant,
          step.table.batch,
          step.table.dtype,
          assembled_step(step, profile),
          rounded(Seconds(measured.median)),
          fmt::format("the same kernels in sequence, each reading the output of those before; convolutions by {}",
                      name_of(step.path))};
}

double median_clock(const ByName& pooled) {
  std::vector<double> clocks;
  for (const auto& [name, sizes] : pooled)
    for (const auto& [size, one] : sizes)
      if (one.clock > 0) clocks.push_back(one.clock);
  return clocks.empty() ? 0 : median(clocks);
}

}  // namespace

const Layer* first_unmeasured(const StepToMeasure& step, const DeviceProfile& profile) {
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    const kernels::LayerKernels& kernels = step.layers[i];
    const LayerEntry* entry = find_entry(profile, *step.table.layers[i].shape, step.table.batch, step.table.dtype);
    if (entry == nullptr || (kernels.forward && !entry->forward) ||
        (kernels.weight_gradient && !entry->weight_gradient) ||
        (i > 0 && kernels.data_gradient && !entry->data_gradient))
      return &step.table.layers[i];
  }
  return nullptr;
}

Seconds assembled_step(const StepToMeasure& step, const DeviceProfile& profile) {
  WorkloadTable table = step.table;
  table.profile = profile;
  table.accumulation = 1;  // one pass and an update are measured
  table.recomputation = Recomputation::none;
  return rounded(make_workload(table).compute());
}

std::string_view compressor_of(std::string_view method) {
  for (const std::string_view part : {"-encode", "-decode", "-p", "-q"})
    if (method.ends_with(part)) method.remove_suffix(part.size());
  return method;
}

ByName pool(const std::vector<Record>& records) {
  std::map<std::string, std::map<std::int64_t, std::vector<const Record*>>> groups;
  for (const Record& record : records)
    if (!record.cold.empty()) groups[record.name][record.size].push_back(&record);
  ByName result;
  for (const auto& [name, sizes] : groups)
    for (const auto& [size, starts] : sizes) {
      Pooled one{starts.front()->role, starts.front()->method, starts.front()->bytes, starts.front()->flops,
                 starts.front()->repeats};
      std::vector<double> cold, warm, medians, clocks;
      for (const Record* start : starts) {
        cold.insert(cold.end(), start->cold.begin(), start->cold.end());
        warm.insert(warm.end(), start->warm.begin(), start->warm.end());
        medians.push_back(median(start->cold));
        clocks.push_back(start->clock);
        one.discarded += start->discarded;
      }
      one.median = median(cold);
      one.iqr = interquartile_range(cold) / one.median;
      one.start_spread =
          (*std::max_element(medians.begin(), medians.end()) - *std::min_element(medians.begin(), medians.end())) /
          one.median;
      one.warm = warm.empty() ? 0 : median(warm);
      one.clock = median(clocks);
      one.starts = static_cast<int>(starts.size());
      one.samples = static_cast<std::int64_t>(cold.size());
      result[name][size] = one;
    }
  return result;
}

DeviceProfile make_profile(const std::string& name, const MeasuredDevice& device, const std::vector<Record>& records,
                           std::uint64_t seed, const std::vector<StepToMeasure>& steps) {
  const EventOverhead overhead = overhead_in(pool(records));
  const ByName pooled = pool(without_events(records, overhead));
  DeviceProfile profile;
  profile.schema_version = kProfileVersion;
  profile.name = name;
  profile.description = fmt::format("{}, measured {} by stepcast-calibrate", device.name, device.date);
  profile.device = device;
  if (overhead.events > 0) profile.device->event_overhead = rounded(Seconds(overhead.events));
  if (const double clock = median_clock(pooled); clock > 0) profile.device->sm_clock = rounded(Hertz(clock));

  constexpr Dtype kDtypes[] = {Dtype::fp32, Dtype::tf32, Dtype::fp16, Dtype::bf16};
  for (int i = 0; i < 4; ++i) {
    const Pooled& product = own_rate(pooled, own::kProducts[i]);
    profile.peaks.push_back({kDtypes[i], rounded(FlopsPerSecond(product.flops / product.median)), Evidence::measured,
                             "cuBLAS, 8192 x 8192 matrices, median; not a peak of the hardware", spread_of(product)});
  }
  const Pooled& copy = own_rate(pooled, own::kCopy);
  profile.memory_bandwidth = {rounded(BytesPerSecond(copy.bytes / copy.median)), Evidence::measured,
                              "a copy on the device, bytes read and written, median", spread_of(copy)};
  const Pooled& launch = own_rate(pooled, own::kLaunch);
  profile.launch_overhead = {rounded(Seconds(launch.median)), Evidence::measured,
                             fmt::format("an empty kernel of a chain of {:.0f}, median", launch.repeats),
                             spread_of(launch)};
  profile.compute_efficiency = {1.0, Evidence::assumed,
                                "that unmeasured layers are as efficient as large matrix products"};
  profile.memory_efficiency = {1.0, Evidence::assumed, "that unmeasured layers are as efficient as a large copy"};
  profile.bend = {4.0, Evidence::assumed, "not fitted"};
  for (const auto& [role, samples] : by_entry(pooled)) {
    if (distinct_sizes(samples.timings) < kLeastSizes) continue;
    try {
      profile.kernels.push_back(entry_of(role, samples, seed));
    } catch (const std::invalid_argument& error) {  // the others are good
      profile.description += fmt::format("; no entry for {}: {}", role, error.what());
    }
  }
  for (const LayerToMeasure& layer : layers_to_measure(steps))
    if (auto entry = entry_of(layer, pooled, steps.front().path)) profile.layers.push_back(std::move(*entry));
  profile.roofline_spread = judge_roofline(profile);
  for (RooflineSpread& one : profile.roofline_spread) one.spread = rounded(one.spread);
  for (const StepToMeasure& step : steps)
    if (const Pooled* measured = find(pooled, step.name(), step.table.batch);
        measured != nullptr && first_unmeasured(step, profile) == nullptr)
      profile.checks.push_back(check_of(step, *measured, profile));
  return profile;
}

std::vector<StepCheck> warm_checks(const MeasuredDevice& device, const std::vector<Record>& records, std::uint64_t seed,
                                   const std::vector<StepToMeasure>& steps) {
  std::vector<Record> warm;
  for (const Record& record : records) {
    if (!record.role.empty() && record.role.find("-update/") == std::string::npos) continue;  // in no step
    warm.push_back(record);
    warm.back().cold = record.warm;
  }
  try {
    return make_profile("", device, warm, seed, steps).checks;
  } catch (const CalibrationError&) {
    return {};
  }
}

}  // namespace stepcast::calibrate
