// Collectives in a replay.
//
// All workers meet at the task. The last one to come runs the rounds. Each round starts after the one before has ended
// everywhere. The others sleep until the collective has ended. If workers do not wait for all others (asynchronous
// servers), those of each communicator meet by themselves.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/part/cluster.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/replay/messages.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

class CollectiveRounds {
 public:
  CollectiveRounds(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph);

  /// A worker's part in a task's collective. Returns the time when the last worker came.
  double execute(const CollectiveWork& work, Track& track, TaskId task);
  /// Carries a collective out, in an actor, as if all had come.
  /// @param communicator  only in this one; null: in all
  void run(const CollectiveCall& call, std::optional<int> communicator = {});

 private:
  /// The meeting of a collective's participants.
  struct Meeting {
    int arrived = 0;
    int held = 0;  ///< how often they have met
    double start = 0.0;
    std::vector<Track*> waiting;
  };

  void run_rounds(const CollectiveCall& call, std::optional<int> communicator);
  /// Runs one round until the next may start. Returns how much later its last message has been copied.
  /// @param messages  of this round; several collectives may run at the same time
  double run_round(const SimulatedRound& round, double block, const CollectiveCall& call,
                   std::vector<Posted>& messages);
  /// The time that a collective takes beside its rounds.
  [[nodiscard]] Seconds before_rounds(const CollectiveCall& call) const;

  SimulatedCluster& simulated_;
  const Cluster& cluster_;
  std::vector<Protocol> protocols_;
  int workers_;                                 ///< in the simulation
  bool apart_;                                  ///< communicators meet by themselves
  std::vector<std::vector<Meeting>> meetings_;  ///< by task, and by communicator if they are apart
  /// Folded: a round's duration, by its key, bytes, recode and protocol.
  std::map<std::tuple<CallKey, Bytes, Seconds, int>, double> took_;
};

}  // namespace stepcast
