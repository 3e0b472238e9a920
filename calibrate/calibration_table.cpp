#include "calibrate/calibration_table.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/event_overhead.hpp"
#include "calibrate/profile_of_samples.hpp"
#include "calibrate/statistics.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast::calibrate {
namespace {

/// Median over an entry's methods of warm over cold time at their largest size; NaN without warm samples.
double warm_share(const std::string& entry, const std::map<std::string, std::map<std::int64_t, Pooled>>& pooled) {
  std::vector<double> shares;
  for (const auto& [name, sizes] : pooled) {
    const Pooled& largest = std::prev(sizes.end())->second;
    const bool is_its =
        entry == largest.role || entry == fmt::format("{}/{}", largest.role, compressor_of(largest.method));
    if (is_its && largest.warm > 0) shares.push_back(largest.warm / largest.median);
  }
  return shares.empty() ? std::nan("") : median(shares);
}

/// The same step, assembled of warm times.
std::string warm_text(const StepCheck& check, const std::vector<StepCheck>& warm) {
  for (const StepCheck& one : warm)
    if (one.workload == check.workload && one.variant == check.variant && one.batch == check.batch &&
        one.dtype == check.dtype)
      return fmt::format(" (of warm times {})", human_text(one.assembled));
  return "";
}

}  // namespace

std::string memory_rate(BytesPerSecond rate) { return fmt::format("{:.4g} GB/s", rate.si() / 1e9); }

std::string profile_table(const DeviceProfile& profile, const std::vector<Record>& records,
                          const std::vector<StepCheck>& warm) {
  const Seconds events = profile.device ? profile.device->event_overhead.value_or(Seconds{}) : Seconds{};
  const auto pooled = pool(without_events(records, {events.si(), profile.launch_overhead.value.si()}));
  std::string text = fmt::format("{}\n", profile.description);
  text += fmt::format("memory {}, launch {}", memory_rate(profile.memory_bandwidth.value),
                      human_text(profile.launch_overhead.value));
  if (events > Seconds{}) text += fmt::format(", events {} (taken from each sample)", human_text(events));
  for (const PeakRate& peak : profile.peaks) text += fmt::format(", {} {}", name_of(peak.dtype), human_text(peak.rate));
  TextTable table(1, 8);
  table.add({"kernel", "launch", "bandwidth", "error median, p90, largest", "quartiles", "starts", "samples",
             "discarded", "warm/cold", "bends at"});
  for (const KernelEntry& kernel : profile.kernels) {
    std::vector<std::string> bends;
    for (const RateKnot& knot : kernel.knots) bends.push_back(human_text(knot.bytes, 3));
    const double share = warm_share(kernel.name, pooled);
    const std::string errors = kernel.errors ? fmt::format("{}, {}, {}", percent(kernel.errors->median),
                                                           percent(kernel.errors->p90), percent(kernel.errors->largest))
                                             : "-";
    table.add({kernel.name, human_text(kernel.launch, 3), memory_rate(kernel.bandwidth), errors,
               percent(kernel.iqr.value_or(0)), kernel.start_spread ? percent(*kernel.start_spread) : "-",
               std::to_string(kernel.samples.value_or(0)), std::to_string(kernel.discarded.value_or(0)),
               std::isnan(share) ? "-" : fmt::format("{:.2f}", share),
               bends.empty() ? "-" : fmt::format("{}", fmt::join(bends, ", "))});
  }
  text += "\n\n" + table.text();
  if (!profile.layers.empty()) text += fmt::format("\n{} kinds of layer work\n", profile.layers.size());
  for (const RooflineSpread& one : profile.roofline_spread)
    text += fmt::format("roofline, {}: within a factor {:.2f} of the other measurements, by {} parts of layers\n",
                        name_of(one.dtype), 1 + one.spread, one.parts);
  for (const StepCheck& check : profile.checks)
    text += fmt::format("step {} {}, batch {}, {}: assembled {}{}, measured {}, {:+.1f} % ({})\n", check.workload,
                        check.variant, check.batch, name_of(check.dtype), human_text(check.assembled),
                        warm_text(check, warm), human_text(check.measured),
                        100 * (check.assembled / check.measured - 1), check.source);
  return text;
}

}  // namespace stepcast::calibrate
