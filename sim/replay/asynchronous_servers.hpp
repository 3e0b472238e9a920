// Asynchronous servers as a replay carries them out: by the workers' own tracks, each worker on its own with each shard.
// Whoever comes to a shard first is served first; the others queue.
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
  std::vector<simgrid::s4u::MutexPtr> shards_;  ///< held by whom each serves
};

}  // namespace stepcast
