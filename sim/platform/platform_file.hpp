// SimGrid platform files: loading, and checks before a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/platform/compat.hpp"

namespace stepcast {

/// Loads the file. Its hosts are in the workers' order: shorter names first, then by letter (host-2, host-10).
/// @throws SimGrid's exceptions. SimGrid may also end the process, so inspect_platform() first tries in another one.
std::vector<simgrid::s4u::Host*> load_hosts(simgrid::s4u::Engine& engine, const std::string& file);

/// The reason why no scenario can use a file, as in PlatformFacts.
struct PlatformFault {
  std::string found, allowed;
};

/// Finds actors, which stepcast does not run, and profiles that change hosts or links with time. Profile bandwidths are
/// not scaled like those of links (kUnitsPerByte), and steps would differ from each other. Reports nothing for a file
/// that is not XML: SimGrid's own message gives the line.
std::optional<PlatformFault> find_changing_parts(const std::string& file);

/// Finds Wi-Fi links, links with numbers outside a scenario's limits, and hosts without a speed.
std::optional<PlatformFault> find_bad_parts(const simgrid::s4u::Engine& engine,
                                            const std::vector<simgrid::s4u::Host*>& hosts);

/// Whether links lead from one host to another. @throws SimGrid's exceptions; SimGrid may also end the process
bool has_route(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to);

}  // namespace stepcast
