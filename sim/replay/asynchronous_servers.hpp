// Asynchronous servers in a replay. Each worker's own track exchanges with each shard on its own. A shard serves
// workers in order of arrival; the others queue.
#pragma once

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

  // Each returns when the work itself began, after queueing.
  double execute(const ShardTransfer& transfer, const Track& track);
  double execute(const ShardServe& serve, const Track& track);
  double execute(const ShardCopy& copy, const Track& track);

 private:
  SimulatedCluster& simulated_;
  const Cluster& cluster_;
  const StepGraph& graph_;
  std::vector<simgrid::s4u::MutexPtr> shards_;  ///< held by the worker that each shard serves
};

}  // namespace stepcast
