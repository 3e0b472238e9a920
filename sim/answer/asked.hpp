// Which evaluators answer a study's scenarios.
#pragma once

#include <string>

#include "models/equation/exactness.hpp"
#include "models/price/recent_prices.hpp"
#include "models/scenario/scenario.hpp"
#include "sim/answer/timed_workloads.hpp"

namespace stepcast {

/// What a scenario is answered by, or why it is not.
struct Asked {
  Evaluators evaluators;
  std::string refusal;  ///< "auto" starts no replay of so many messages
};

/// Of a scenario whose step graph and prices are known.
Asked asked(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices);

/// Before anything is answered; makes the step graph where that has to tell, and keeps what scenarios share. Not for
/// several threads.
class AskedEvaluators {
 public:
  /// Collectives are not priced for it, which takes as long as an answer: equations know them but for the rare one that
  /// `asked` finds. Equations, too, where there is no step graph: whoever makes it will say why.
  /// @pre the scenario outlives this
  Asked of(const Scenario& scenario);

 private:
  TimedWorkloads workloads_;
  RecentPrices prices_;
};

}  // namespace stepcast
