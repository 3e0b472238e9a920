// Rules between the parts of a scenario, which single fields cannot check.
#pragma once

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

}  // namespace stepcast
