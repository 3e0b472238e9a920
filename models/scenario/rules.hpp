// What single fields cannot know: rules between the parts of a scenario.
#pragma once

#include <optional>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/scenario/platform_facts.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Appends a fault (pointers into the canonical document) for every rule between parts that the scenario breaks.
/// @param workload  made of the scenario's table (make_workload); null where it has none, or one that breaks check_workload
/// @param platform  of the cluster's platform file; null where it has none, or nobody asked SimGrid
void check(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults,
           const PlatformFacts* platform = nullptr);

/// Its own workload's rules (check_workload) as well.
void check(const Scenario& scenario, std::vector<Fault>& faults);

/// Hosts that the topology offers to workers; empty when it is any number, or known only to SimGrid.
std::optional<long> host_count(const Topology& topology);

/// One-way links of the topology, two for a cable; empty where they depend on who is connected. Saturates at 1e15.
std::optional<long> link_count(const Topology& topology);

/// A topology may have: numbers of its links, and twice of them, are ints.
inline constexpr long kMostLinks = 1L << 30;

}  // namespace stepcast
