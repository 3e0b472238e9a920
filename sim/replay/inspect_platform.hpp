// Platform files are SimGrid's to read, and it ends the process where one makes no sense. So a process of its own loads
// a file first, whatever becomes of it, and says what scenarios may ask of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "models/scenario/platform_facts.hpp"

namespace stepcast {

/// What a platform file may take.
struct InspectionLimits {
  std::uintmax_t file_bytes = 32u << 20;
  std::uintmax_t memory_bytes = 2ull << 30;  ///< of loading it; unlimited under AddressSanitizer, which maps terabytes
  std::chrono::milliseconds time{60'000};    ///< of loading it and trying its routes
  long hosts = 65536;
  /// Among so many of the first hosts each pair's routes are tried. Hosts beyond try those to the first one and to the
  /// hosts 1, 2, 4, ... before them.
  long all_pairs = 512;
  std::chrono::milliseconds routes{10'000};  ///< of trying routes; those not tried by then are taken for there
};

/// Forks a process that loads the file. The parent must not have an Engine or other threads.
/// @throws std::system_error when no process can be made
PlatformFacts inspect_platform_within(const std::string& file, const InspectionLimits& limits);

/// The same within the limits above: a PlatformInspector.
PlatformFacts inspect_platform(const std::string& file);

}  // namespace stepcast
