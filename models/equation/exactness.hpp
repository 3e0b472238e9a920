// The possible distance of the replay's answer from the equations', and the choice of the evaluator.
#pragma once

#include <optional>
#include <string>

#include "models/price/cluster_prices.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Known limits on the replay's step over the equations' step.
struct Exactness {
  std::string why;             ///< reason for a difference; empty if they agree to rounding
  double least = 1, most = 1;  ///< replay over equations: bounds if only collectives differ or meet; else the
                               ///< range that tests check (tests/sim/auto_test.cpp)

  [[nodiscard]] bool is_within(double share) const { return least >= 1 - share && most <= 1 + share; }
};

/// "as if all workers exchanged at once: a replay's step is 0.8 to 1.9 times this one"; empty if both are equal.
std::string text_of(const Exactness& exactness);

/// @pre the equations can answer the scenario
/// @throws ModelError as evaluate does
Exactness exactness_of(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices);

/// The evaluators that answer.
struct Evaluators {
  bool equations = false, replay = false;
};

/// The evaluator "auto" takes the equations if their distance from the replay is at most this.
inline constexpr double kAutoWithin = 0.01;

/// The reason why only the replay can answer, such as "jitter". Empty if the equations can answer, too.
std::string only_replayed(const Scenario& scenario);

/// Whether the workers exchange by collectives only, one after the other.
bool exchanges_by_collectives(const Scenario& scenario);

/// The scenario's evaluator. "auto" takes the equations if they are exact or within kAutoWithin, else the replay; it
/// does not run a replay to decide. The first form returns nothing if the decision needs the step graph.
std::optional<Evaluators> evaluators_of(const Scenario& scenario);
Evaluators evaluators_of(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices);

}  // namespace stepcast
