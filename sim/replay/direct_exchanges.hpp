// Direct exchanges in a replay: pushes to shards, pulls from them, and messages between neighbours.
//
// A message starts when its sender reaches the task, and waits in the receiver's inbox. Hosts copy the bytes that they
// send and receive.
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

}  // namespace stepcast
