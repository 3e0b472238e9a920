// Checks whether the compressors fit their tensors and the strategy.
#pragma once

#include <vector>

#include "models/describe/fault.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Appends a fault for every rule between a compressor and its tensors, strategy, carrier, codec and evaluator.
/// @param workload  from the scenario's table; null if it has none
/// @pre the other parts of the scenario passed their checks
void check_compressor(const Scenario& scenario, const Workload* workload, std::vector<Fault>& faults);

}  // namespace stepcast
