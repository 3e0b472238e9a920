// The SimGrid engine of a replay, with the options that it needs and stacks for its actors.
//
// SimGrid protects the page below each stack against overflow, so a stack takes two mappings of memory. A process may
// have 65,530 mappings by default (vm.max_map_count). Beyond 30,000 actors, SimGrid therefore aborts. Unprotected
// stacks lie side by side in few mappings, and only memory limits their number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/platform/compat.hpp"

namespace stepcast {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// Mappings of memory that a process may have; 65530, the default, if the system does not say.
std::size_t most_mappings();

/// Whether the stacks of this many actors are protected. They are if that takes at most half of the mappings.
bool protects_stacks(std::size_t actors, std::size_t mappings);

/// Makes room in this process for the stacks of this many actors, and returns SimGrid's options for them.
std::vector<std::string> prepare_stacks(std::size_t actors);

/// Starts an engine that does not round short times to zero and logs only fatal messages. It has room for the stacks of
/// this many actors. A process may have one engine.
simgrid::s4u::Engine start_engine(std::size_t actors);

}  // namespace stepcast
