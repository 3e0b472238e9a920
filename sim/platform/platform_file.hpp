// SimGrid platform files: loaded, and what is looked at before anything runs on them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/platform/compat.hpp"

namespace stepcast {

/// Loads the file. Its hosts in the workers' order: host-2 before host-10, shorter names first, then by letter.
/// @throws what SimGrid throws. It may also end the process: inspect_platform() has tried that in another one.
std::vector<simgrid::s4u::Host*> load_hosts(simgrid::s4u::Engine& engine, const std::string& file);

/// Why no scenario can use a file, as in PlatformFacts.
struct PlatformFault {
  std::string found, allowed;
};

/// Actors, which nobody here runs, and profiles by which hosts or links change with time. Bandwidths of profiles are not
/// scaled as those of links are (kUnitsPerByte), and no step would be like the one before.
/// Nothing is said of a file that is no XML: SimGrid knows the line.
std::optional<PlatformFault> find_changing_parts(const std::string& file);

/// Links that are Wi-Fi, or whose numbers a scenario may not have either; hosts without a speed.
std::optional<PlatformFault> find_bad_parts(const simgrid::s4u::Engine& engine,
                                            const std::vector<simgrid::s4u::Host*>& hosts);

/// Whether links lead from one host to another one. @throws what SimGrid throws, which may also end the process
bool has_route(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to);

}  // namespace stepcast
