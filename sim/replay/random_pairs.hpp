// Asynchronous pairs in a replay (AD-PSGD, SwarmSGD). A worker that chooses averages with a neighbour, by chance. An
// island's workers choose the same island, and each averages with the worker of its share. The neighbour's host answers
// one worker at a time, in order of arrival, whatever its GPU and its own pair do. A worker holds one answering host at
// most, and waits for none meanwhile, so workers cannot wait for each other in a circle.
#pragma once

#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

class RandomPairs {
 public:
  /// @param run  number of the run, for the random numbers of pairs
  RandomPairs(SimulatedCluster& simulated, const Scenario& scenario, const StepGraph& graph, int run);

  /// Returns the time when the exchange began, after queueing. A worker that only answers returns at once.
  double execute(const PairWork& work, const Track& track, int step);

 private:
  SimulatedCluster& simulated_;
  const Scenario& scenario_;
  int run_;
  int island_ = 1;
  std::vector<std::vector<int>> neighbours_;     ///< by rank, of those that choose
  std::vector<simgrid::s4u::MutexPtr> answers_;  ///< by rank: held by the worker that it averages with
};

}  // namespace stepcast
