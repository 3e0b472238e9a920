#include "calibrate/profile.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace stepcast::calibrate {
namespace {

using Json = nlohmann::ordered_json;

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string quantity(double value, const char* unit) { return text("%.6g", value) + unit; }

Json entry(const std::string& value, const std::string& source) { return {{"value", value}, {"evidence", "measured"}, {"source", source}}; }

Json kernel_entry(const std::string& pass, const std::vector<const KernelTimings*>& methods, std::uint64_t seed) {
  std::vector<Timing> pooled;
  std::string names;
  for (const KernelTimings* method : methods) {
    pooled.insert(pooled.end(), method->timings.begin(), method->timings.end());
    names += (names.empty() ? "" : ", ") + method->method;
  }
  if (pooled.size() < 10) return nullptr;
  const auto [least, most] = std::minmax_element(pooled.begin(), pooled.end(), [](const Timing& a, const Timing& b) { return a.bytes < b.bytes; });
  const double from = least->bytes, to = most->bytes;
  try {
    const HeldOut judged = fit_and_judge(pooled, seed);
    const std::string source = "stepcast-calibrate, cold L2, methods " + names + "; fitted to " + std::to_string(judged.fitted) + " sizes from " + quantity(from, "B") + " to " + quantity(to, "B") + "; error on " +
                               std::to_string(judged.held_out) + " others: median " + text("%.1f", 100 * judged.median_error) + " %, largest " + text("%.1f", 100 * judged.largest_error) + " %";
    return {{"name", pass}, {"launch", quantity(judged.fit.launch, "s")}, {"bandwidth", quantity(judged.fit.bandwidth, "B/s")}, {"evidence", "measured"}, {"source", source}};
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("pass \"" + pass + "\": " + error.what());
  }
}

}  // namespace

Json profile_document(const DeviceFacts& facts, const std::vector<KernelTimings>& kernels, std::uint64_t seed) {
  std::map<std::string, std::vector<const KernelTimings*>> passes;
  for (const KernelTimings& kernel : kernels) passes[kernel.pass].push_back(&kernel);
  Json entries = Json::array();
  for (const auto& [pass, methods] : passes)
    if (Json found = kernel_entry(pass, methods, seed); !found.is_null()) entries.push_back(std::move(found));

  const std::string product = "cuBLAS, 8192 x 8192 matrices, median; not a peak of the hardware";
  return {{"name", facts.name},
          {"description", facts.description},
          {"peaks", {{{"dtype", "fp32"}, {"rate", quantity(facts.fp32_peak, "FLOPS")}, {"evidence", "measured"}, {"source", product}},
                     {{"dtype", "fp16"}, {"rate", quantity(facts.fp16_peak, "FLOPS")}, {"evidence", "measured"}, {"source", product}}}},
          {"memory_bandwidth", entry(quantity(facts.memory_bandwidth, "B/s"), "copy of 256 MiB on the device, bytes read and written, median")},
          {"launch_overhead", entry(quantity(facts.launch_overhead, "s"), "an empty kernel between two events, median")},
          {"compute_efficiency", {{"value", 1.0}, {"evidence", "measured"}, {"source", "the peaks above are what large matrix products reach"}}},
          {"memory_efficiency", {{"value", 1.0}, {"evidence", "measured"}, {"source", "the bandwidth above is what a large copy reaches"}}},
          {"bend", {{"value", 4.0}, {"evidence", "assumed"}, {"source", "not fitted: layers were not measured"}}},
          {"kernels", std::move(entries)}};
}

}  // namespace stepcast::calibrate
