// The evaluators that answer a study's scenarios.
#pragma once

#include <string>

#include "models/equation/exactness.hpp"
#include "models/price/recent_prices.hpp"
#include "models/scenario/scenario.hpp"
#include "sim/answer/timed_workloads.hpp"

namespace stepcast {

/// A scenario's evaluators, or the reason for having none.
struct Asked {
  Evaluators evaluators;
  std::string refusal;  ///< "auto" starts no replay of so many messages
};

/// For a scenario with a step graph and prices.
Asked asked(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices);

/// For a scenario that is not answered yet. Makes the step graph only if the choice needs it, and keeps data that
/// scenarios share. Not thread-safe.
class AskedEvaluators {
 public:
  /// Collectives are not priced for this, because pricing takes as long as an answer. Equations can price nearly all;
  /// `asked` finds the rare exception. Also chooses equations if there is no step graph; the graph's builder then gives
  /// the reason.
  /// @pre the scenario outlives this
  Asked of(const Scenario& scenario);

 private:
  TimedWorkloads workloads_;
  RecentPrices prices_;
};

}  // namespace stepcast
