// Samples of a device as the device profile that models/part/profile.hpp reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/layer_kernels.hpp"
#include "calibrate/sample_file.hpp"
#include "models/part/profile.hpp"

namespace stepcast::calibrate {

/// Names of the subjects that are the device's own rates.
namespace own {
inline constexpr const char* kLaunch = "device/launch";  ///< an empty kernel of a chain of kChain
inline constexpr const char* kSingle = "device/single";  ///< an empty kernel alone between the events
inline constexpr int kChain = 64;
inline constexpr const char* kCopy = "device/copy";  ///< a copy on the device
inline constexpr const char* kProducts[] = {"device/product-fp32", "device/product-tf32", "device/product-fp16",
                                            "device/product-bf16"};
}  // namespace own

/// Distinct sizes that a role needs for an entry; some of them judge the fit to the others.
inline constexpr int kLeastSizes = 10;

/// Cold samples of one subject at one size, those of all process starts together.
struct Pooled {
  std::string role, method;
  double bytes = 0, flops = 0;
  double repeats = 1;       ///< runs of the kernel in a sample
  double median = 0;        ///< s
  double iqr = 0;           ///< distance of the quartiles of single times over the median
  double start_spread = 0;  ///< largest less least median of a process start, over the median
  double warm = 0;          ///< s, median of warm samples; 0 without any
  double clock = 0;         ///< Hz
  int starts = 0;
  std::int64_t samples = 0, discarded = 0;
};

/// The first layer for which the profile lacks a part of the step. Its roofline would pass for a measurement. Null if
/// there is none.
const Layer* first_unmeasured(const StepToMeasure& step, const DeviceProfile& profile);

/// Forward, backward and update of a step by the profile, to six digits.
Seconds assembled_step(const StepToMeasure& step, const DeviceProfile& profile);

/// The compressor that a kernel is measured for: "powersgd" of its methods "powersgd-p", "powersgd-q" and
/// "powersgd-decode".
std::string_view compressor_of(std::string_view method);

/// By name and size.
std::map<std::string, std::map<std::int64_t, Pooled>> pool(const std::vector<Record>& records);

/// The profile, with the events' own time subtracted from every sample (calibrate/event_overhead.hpp). It has the
/// device's own rates, and an entry for each role, fitted to 70 % of the sizes. A role pools its methods' times; if it has
/// several compressors, each has an entry of its own, too, such as "decode/qsgd".
///
/// An entry's iqr and start_spread are medians over its sizes. Its spread adds up half of each of these, and the fit's
/// median error on sizes held out. Roles with fewer than kLeastSizes get no entry. Neither do roles that cannot be
/// fitted; the description names them. Numbers are rounded to six digits, more than a clock has.
///
/// It also has an entry for each kind of layer of `steps`, and the roofline's distance from these entries. Each step
/// measured as a whole gives a check.
/// @throws CalibrationError if one of the device's own rates is missing
DeviceProfile make_profile(const std::string& name, const MeasuredDevice& device, const std::vector<Record>& records,
                           std::uint64_t seed, const std::vector<StepToMeasure>& steps = {});

/// The checks of a profile made of the warm samples: steps of kernels that find their own data in L2. A step in
/// training lies between cold and warm, since its kernels find the last one's output. Empty without warm samples of the
/// device's own rates.
std::vector<StepCheck> warm_checks(const MeasuredDevice& device, const std::vector<Record>& records, std::uint64_t seed,
                                   const std::vector<StepToMeasure>& steps);

}  // namespace stepcast::calibrate
