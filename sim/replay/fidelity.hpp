// Full or folded?
#pragma once

#include <optional>
#include <string>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Why the replay cannot be folded exactly: for the scenario's sake (scenario/fidelity.hpp) or the step graph's,
/// where a collective may share links with other communication.
std::optional<std::string> folding_refusal(const Scenario& scenario, const StepGraph& graph);

/// What the scenario's choice comes to.
struct FidelityDecision {
  bool folds = false;
  std::string why_full;  ///< where folding was refused
};

/// @throws ModelError when the scenario demands folding and it cannot be exact
FidelityDecision decide_fidelity(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
