// Checks whether a cluster's parts fit together, and whether it is large enough.
#pragma once

#include <optional>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/scenario/platform_facts.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Appends a fault for every broken rule between topology, workers, groups, protocols, transport and evaluator.
/// @param platform  of the cluster's platform file; null if it has none, or if SimGrid was not asked
void check_cluster(const Scenario& scenario, const PlatformFacts* platform, std::vector<Fault>& faults);

/// Hosts that the topology offers to workers; empty if any number is possible, or if only SimGrid knows it.
std::optional<long> host_count(const Topology& topology);

/// One-way links of the topology, two per cable; empty if they depend on the connected hosts. At most 1e15.
std::optional<long> link_count(const Topology& topology);

/// Limit on a topology's links: link numbers, and twice these numbers, are ints.
inline constexpr long kMostLinks = 1L << 30;

}  // namespace stepcast
