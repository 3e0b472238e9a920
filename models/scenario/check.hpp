// What single fields cannot know: rules between the parts of a scenario.
#pragma once

#include <vector>

#include "models/scenario/fault.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Appends a fault (pointers into the canonical document) for every rule the scenario breaks.
void check(const Scenario& scenario, std::vector<Fault>& faults);

/// Hosts that the topology offers to workers; empty when it is any number, or known only to SimGrid.
std::optional<long> host_count(const Topology& topology);

}  // namespace stepcast
