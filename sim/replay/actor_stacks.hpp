// The stacks that a replay's actors run on.
//
// SimGrid protects the page below each stack against overflow, which makes two mappings of memory for a stack. A
// process may have 65,530 by default (vm.max_map_count), so beyond 30,000 actors SimGrid aborts. Unprotected stacks lie
// side by side in few mappings, and only memory limits their number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stepcast {

/// Mappings of memory that a process may have; 65530, the default, if the system does not say.
std::size_t most_mappings();

/// Whether the stacks of so many actors are protected. They are if that takes at most half of the mappings.
bool protects_stacks(std::size_t actors, std::size_t mappings);

/// Makes room in this process for the stacks of so many actors, and returns SimGrid's options for them.
std::vector<std::string> prepare_stacks(std::size_t actors);

}  // namespace stepcast
