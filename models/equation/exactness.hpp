// How far the replay's answer may be from the equations', and which of the two answers a scenario.
#pragma once

#include <optional>
#include <string>

#include "models/price/cluster_prices.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// What is known of the step by the replay, over the step by the equations.
struct Exactness {
  std::string why;             ///< why they may differ; empty where they are the same to rounding
  double least = 1, most = 1;  ///< the replay's over the equations'; bounds where collectives alone differ, elsewhere
                               ///< the range that tests hold (tests/sim/auto_test.cpp)

  [[nodiscard]] bool is_within(double share) const { return least >= 1 - share && most <= 1 + share; }
};

/// "as if all workers exchanged at once: a replay's step is 0.8 to 1.9 times this one"; empty where both are the same.
std::string text_of(const Exactness& exactness);

/// @pre the equations can answer the scenario
/// @throws ModelError as evaluate does
Exactness exactness_of(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices);

/// Which evaluators answer.
struct Evaluators {
  bool equations = false, replay = false;
};

/// How far the equations may be from the replay where the evaluator "auto" takes them.
inline constexpr double kAutoWithin = 0.01;

/// Why only the replay can answer: what it depends on, such as "jitter"; empty where equations can as well.
std::string only_replayed(const Scenario& scenario);

/// Whether all that its workers exchange are collectives.
bool exchanges_by_collectives(const Scenario& scenario);

/// The scenario's evaluator. "auto" takes the equations where they are exact, or within kAutoWithin, else the replay;
/// no replay is tried. Nothing where the step graph has to tell.
std::optional<Evaluators> evaluators_of(const Scenario& scenario);
Evaluators evaluators_of(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices);

}  // namespace stepcast
