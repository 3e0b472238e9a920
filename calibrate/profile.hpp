// What was measured of a device, as a device profile that models/scenario/profile.hpp reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "calibrate/statistics.hpp"

namespace stepcast::calibrate {

struct DeviceFacts {
  std::string name;         ///< of the profile, "h100-2026-11-21"
  std::string description;  ///< device, driver, toolkit, source state, date
  double launch_overhead = 0;   ///< s, an empty kernel
  double memory_bandwidth = 0;  ///< B/s read and written, a copy on the device
  double fp32_peak = 0, fp16_peak = 0;  ///< flop/s, a large matrix product
};

/// Timings of one kernel on one pass's work; several methods may have kernels of one pass.
struct KernelTimings {
  std::string pass, method;
  std::vector<Timing> timings;
};

/// One profile entry a pass: its methods' timings pooled, since the simulator knows passes by name alone; `source` says
/// which methods, the error on the timings held out, and the sizes. Passes with fewer than ten timings get none.
/// @throws std::invalid_argument as fit_rate, naming the pass
nlohmann::ordered_json profile_document(const DeviceFacts& facts, const std::vector<KernelTimings>& kernels, std::uint64_t seed);

}  // namespace stepcast::calibrate
