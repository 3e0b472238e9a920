// Asynchronous servers as a replay carries them out: by the workers' own lanes, each worker on its own with each shard.
// Whoever comes to a shard first is served first; the others queue.
#pragma once

#include <vector>

#include "models/part/cluster.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/scene.hpp"

namespace stepcast {

class AsynchronousServers {
 public:
  AsynchronousServers(Scene& scene, const Cluster& cluster, const StepGraph& graph);

  // Each returns when the work itself began, after queueing.
  double perform(const ShardTransfer& transfer, const Lane& lane);
  double perform(const ShardServe& serve, const Lane& lane);
  double perform(const ShardCopy& copy, const Lane& lane);

 private:
  Scene& scene_;
  const Cluster& cluster_;
  const StepGraph& graph_;
  std::vector<simgrid::s4u::MutexPtr> shards_;  ///< held by whom each serves
};

}  // namespace stepcast
