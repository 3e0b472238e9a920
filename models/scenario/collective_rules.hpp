// Which collectives can be carried out on which cluster.
#pragma once

#include <string>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/describe/fault.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Appends a fault for every rule that the choice breaks with the operation, the workers and the topology.
/// @param pointer  of the choice
/// @param among    which workers do so together
void check_collective(const CollectiveChoice& choice, Operation operation, const Cluster& cluster,
                      const std::string& pointer, std::vector<Fault>& faults, const Communicators& among = {});

/// What may run between the groups of `hierarchical`, as faults name it.
std::string names_between(Operation operation, bool with_auto = true);

}  // namespace stepcast
