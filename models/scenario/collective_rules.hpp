// Checks whether a cluster can run a collective.
#pragma once

#include <string>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/describe/fault.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Appends a fault for every rule that the choice breaks, given the operation, the workers and the topology.
/// @param pointer  JSON pointer of the choice
/// @param among    the workers that run it together
void check_collective(const CollectiveChoice& choice, Operation operation, const Cluster& cluster,
                      const std::string& pointer, std::vector<Fault>& faults, const Communicators& among = {});

/// The values of between_groups with `hierarchical` on switches that only forward, as a list for faults.
std::string names_between(Operation operation);

}  // namespace stepcast
