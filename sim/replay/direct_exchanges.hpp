// Direct exchanges as a replay carries them out: pushes to shards, pulls from them, and what ring neighbours send each
// other.
//
// A message starts when its sender reaches the task, and waits in its receiver's inbox for him. Hosts copy what they
// send and receive. Asynchronous servers are carried out by the workers' own tracks, each worker on its own with each
// shard. Whoever comes to a shard first is served first; the others queue.
#pragma once

#include <vector>

#include "models/part/cluster.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/messages.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

class DirectExchanges {
 public:
  DirectExchanges(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph);

  /// A participant's part in the exchange of a task. Both return when it began: when its last sender sent, if that was
  /// later than it came, since until then it waits for him rather than communicates.
  double execute(const ShardWork& work, Track& track, TaskId task);
  double execute(const NeighbourWork& work, Track& track, TaskId task);

 private:
  double exchange(const SimulatedExchange& messages, Track& track, TaskId task);

  SimulatedCluster& simulated_;
  const Cluster& cluster_;
  const StepGraph& graph_;
  std::vector<std::vector<Inbox>> inboxes_;  ///< by task, then by number in the simulation
};

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
