// The choice between a full and a folded replay.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/replay/folding.hpp"

namespace stepcast {

/// Why the replay cannot be folded exactly. The reason is in the scenario (scenario/fidelity.hpp), or in the step graph
/// if a collective may share links with other communication.
std::optional<std::string> folding_refusal(const Scenario& scenario, const StepGraph& graph);

/// The result of the scenario's choice.
struct FidelityDecision {
  bool folds = false;
  std::string why_full;        ///< if folding is refused, or gains nothing
  std::optional<Fold> fold{};  ///< if one was made to decide
};

/// "auto" folds if that is exact and leaves at most two thirds of the direct messages: a folded message takes SimGrid
/// up to twice as long. The messages that are left are not counted if a push has fewer than 64 or more than 2^18.
/// @throws ModelError when the scenario demands folding and it cannot be exact
FidelityDecision decide_fidelity(const Scenario& scenario, const StepGraph& graph);

/// Messages of one push to the graph's shards, of one pull, or of one exchange with neighbours. All are counted, as in
/// a full replay.
double direct_messages(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
