// Full or folded?
#pragma once

#include <optional>
#include <string>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/replay/folding.hpp"

namespace stepcast {

/// Why the replay cannot be folded exactly: for the scenario's sake (scenario/fidelity.hpp) or the step graph's,
/// where a collective may share links with other communication.
std::optional<std::string> folding_refusal(const Scenario& scenario, const StepGraph& graph);

/// What the scenario's choice comes to.
struct FidelityDecision {
  bool folds = false;
  std::string why_full;        ///< where folding was refused, or gains nothing
  std::optional<Fold> fold{};  ///< where it was made to decide
};

/// "auto" folds wherever it is exact and leaves at most two thirds of the direct messages: a folded one takes SimGrid
/// up to twice as long. Of fewer than 64 messages of one push, or more than 2^18, it is not counted how many are left.
/// @throws ModelError when the scenario demands folding and it cannot be exact
FidelityDecision decide_fidelity(const Scenario& scenario, const StepGraph& graph);

/// Messages of one push to the graph's shards (or one pull), or of one exchange with neighbours, when all are
/// simulated.
double direct_messages(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
