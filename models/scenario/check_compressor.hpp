// Which compressor goes with which strategy.
#pragma once

#include <vector>

#include "models/scenario/fault.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Appends a fault for every rule that the compressor breaks with its tensors, strategy, carrier, codec and evaluator.
/// @pre the other parts of the scenario passed their checks
void check_compressor(const Scenario& scenario, std::vector<Fault>& faults);

}  // namespace stepcast
