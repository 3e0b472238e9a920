// Direct exchanges in a replay: pushes to shards, pulls from them, and messages between neighbours.
//
// A message starts when its sender reaches the task, and waits in the receiver's inbox. Hosts copy the bytes that they
// send and receive. With asynchronous servers, each worker's own track exchanges with each shard on its own. A shard
// serves workers in order of arrival; the others queue.
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
  struct NeighbourLoad {
    SecondsPerByte copies{};  ///< for each byte of one message (copies_by_rank)
    double received = 0;      ///< messages
  };

  DirectExchanges(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph);

  /// A participant's part in the exchange of a task. Both return the time when the exchange began: the later of the
  /// participant's arrival and its last sender's. Until then, the participant waits and does not communicate.
  double execute(const ShardWork& work, Track& track, TaskId task);
  double execute(const NeighbourWork& work, Track& track, TaskId task);

 private:
  double exchange(const SimulatedExchange& messages, Track& track, TaskId task);

  SimulatedCluster& simulated_;
  const Cluster& cluster_;
  const StepGraph& graph_;
  std::vector<std::vector<Inbox>> inboxes_;        ///< by task, then by number in the simulation
  std::vector<std::vector<NeighbourLoad>> loads_;  ///< by task with neighbours, then by rank
};

class AsynchronousServers {
 public:
  AsynchronousServers(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph);

  // Each returns the time when the work itself began, after queueing.
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
