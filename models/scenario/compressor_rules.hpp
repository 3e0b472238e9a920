// Which compressor goes with which strategy.
#pragma once

#include <vector>

#include "models/describe/fault.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Appends a fault for every rule that the compressor breaks with its tensors, strategy, carrier, codec and evaluator.
/// @param workload  made of the scenario's table; null where it has none
/// @pre the other parts of the scenario passed their checks
void check_compressor(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults);

}  // namespace stepcast
