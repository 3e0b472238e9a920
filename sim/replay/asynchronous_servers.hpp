// Servers that do not wait for all workers, in a replay. Each worker's own track exchanges with each shard on its own. A
// shard serves workers in order of arrival; the others queue.
//
// With backup workers (StepGraph::first_pushes), a shard copies each push in that order, too. The push that completes an
// update makes it, at once. The other workers of the update wait until then. A push whose gradient is of older
// parameters is dropped, and its worker goes on.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "models/part/cluster.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

class AsynchronousServers {
 public:
  AsynchronousServers(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph);

  // Each returns the time when the work itself began, after queueing.
  double execute(const ShardTransfer& transfer, Track& track);
  double execute(const ShardServe& serve, Track& track, TaskId task);
  double execute(const ShardCopy& copy, const Track& track);

  /// By update with backup workers: the time when all shards had made it, of all their parts.
  [[nodiscard]] const std::vector<double>& update_ends() const { return update_ends_; }
  /// Lets all go on that wait for an update, now and later: too few workers may come for another one.
  void stop_updates();

 private:
  /// One part of a shard: its updates, and the pushes for the next one.
  struct Part {
    int updates = 0;
    int pushed = 0;
    std::vector<int> held;  ///< by worker in the simulation: the updates in its parameters
    std::vector<Track*> waiting;
  };

  void end_update(Part& part);

  SimulatedCluster& simulated_;
  const Cluster& cluster_;
  const StepGraph& graph_;
  std::vector<simgrid::s4u::MutexPtr> shards_;  ///< held by the worker that each shard serves
  std::map<TaskId, Part> parts_;                ///< by the task that serves it, with backup workers
  std::vector<std::size_t> updated_;            ///< by update: parts that have had it
  std::vector<double> update_ends_;
  bool stopped_ = false;
};

}  // namespace stepcast
