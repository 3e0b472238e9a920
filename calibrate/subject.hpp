// A subject is one thing that can be measured. Measuring, resuming, filtering and reporting see a device as their list.
// Kernels of compressors, the device's own rates and layers' shapes all are subjects.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/sampling.hpp"

namespace stepcast::calibrate {

struct Subject {
  std::string name;    ///< unique: with a size, the key of its samples
  std::string role;    ///< the profile's entry that it feeds, a compressor's kernel or an update; otherwise empty
  std::string method;  ///< tells it from others of that role
  std::vector<std::int64_t> sizes;
  std::function<double(std::int64_t size)> bytes;  ///< read and written by one run
  std::function<double(std::int64_t size)> flops;  ///< operations of one run
  double repeats = 1;                              ///< runs of one sample; times are divided by it
  /// Describes a difference from the reference; empty function: nothing to check. A subject that differs is not timed.
  std::function<std::optional<std::string>()> check;
  /// Allocates and fills. @throws what the device throws; LeftOut where that concerns this subject alone
  std::function<std::unique_ptr<Work>(std::int64_t size)> prepare;
  double time_share = 1;  ///< share of the time limit that samples of others have
};

}  // namespace stepcast::calibrate
