// Rules between the parts of a scenario, which single fields cannot check.
#pragma once

#include <optional>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/scenario/platform_facts.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Appends a fault (pointers into the canonical document) for every broken rule between parts.
/// @param workload  from the scenario's table (make_workload); null if it has none, or one that breaks check_workload
/// @param platform  of the cluster's platform file; null if it has none, or if SimGrid was not asked
void check(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults,
           const PlatformFacts* platform = nullptr);

/// Also checks the rules of the scenario's workload (check_workload).
void check(const Scenario& scenario, std::vector<Fault>& faults);

/// Hosts that the topology offers to workers; empty if any number is possible, or if only SimGrid knows it.
std::optional<long> host_count(const Topology& topology);

/// One-way links of the topology, two per cable; empty if they depend on the connected hosts. At most 1e15.
std::optional<long> link_count(const Topology& topology);

/// Limit on a topology's links: link numbers, and twice these numbers, are ints.
inline constexpr long kMostLinks = 1L << 30;

}  // namespace stepcast
