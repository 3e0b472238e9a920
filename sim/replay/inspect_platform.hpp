// Checks platform files. SimGrid reads them, and ends the process on a senseless file. A separate process therefore
// loads the file first, and reports the facts that scenarios may ask for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "models/scenario/platform_facts.hpp"

namespace stepcast {

/// Limits for a platform file.
struct InspectionLimits {
  std::uintmax_t file_bytes = 32u << 20;
  std::uintmax_t memory_bytes = 2ull << 30;  ///< for loading; unlimited under AddressSanitizer, which maps terabytes
  std::chrono::milliseconds time{60'000};    ///< for loading and trying the routes
  long hosts = 65536;
  /// All routes between this many of the first hosts are tried. A later host tries routes to the first host, and to the
  /// hosts 1, 2, 4, ... before it.
  long all_pairs = 512;
  std::chrono::milliseconds routes{10'000};  ///< for trying routes; the others are then taken to exist
};

/// Loads the file in a forked process. The parent must not have an Engine or other threads.
/// @throws std::system_error when no process can be made
PlatformFacts inspect_platform_within(const std::string& file, const InspectionLimits& limits);

}  // namespace stepcast
