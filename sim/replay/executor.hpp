// The simulation of a task's work by a track's actor: one function for each kind of Work.
#pragma once

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/replay/asynchronous_servers.hpp"
#include "sim/replay/collective_rounds.hpp"
#include "sim/replay/direct_exchanges.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/random_pairs.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

class Executor {
 public:
  /// @param run  number of the run, for the random numbers of jitter and of pairs
  Executor(SimulatedCluster& simulated, const Scenario& scenario, const StepGraph& graph, int run);

  /// Does a participant's part of a task, in simulated time.
  /// @returns the time when the work itself began, after any wait for others
  /// @throws ModelError for a message too large to be counted
  double execute(TaskId task, Track& track, int step);

  /// The time at which a worker begins its first step: 0, or by chance within a step's computing.
  [[nodiscard]] double first_begin(int worker) const;

  [[nodiscard]] AsynchronousServers& servers() { return servers_; }

 private:
  struct Kinds;
  double compute(Seconds duration, int worker, TaskId task, int step) const;
  [[nodiscard]] double jitter(int worker, TaskId task, int step) const;

  const SimulatedCluster& simulated_;
  const Scenario& scenario_;
  const StepGraph& graph_;
  int run_;
  Seconds latest_begin_;
  CollectiveRounds collectives_;
  DirectExchanges exchanges_;
  AsynchronousServers servers_;
  RandomPairs pairs_;
};

}  // namespace stepcast
