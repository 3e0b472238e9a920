// Checks whether a strategy fits its cluster, workload and evaluator.
#pragma once

#include <vector>

#include "models/describe/fault.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Appends a fault for every broken rule.
/// @param workload  from the scenario's table; null if it has none
void check_strategy(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults);

}  // namespace stepcast
