// Direct exchanges as a replay carries them out: pushes to shards, pulls from them, and what ring neighbours send each
// other.
//
// A message starts when its sender reaches the task, and waits in its receiver's inbox for him. Hosts copy what they
// send and receive.
#pragma once

#include <vector>

#include "models/part/cluster.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/replay/messages.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/scene.hpp"

namespace stepcast {

class DirectExchanges {
 public:
  DirectExchanges(Scene& scene, const Cluster& cluster, const StepGraph& graph);

  /// A participant's part in the exchange of a task. Both return when it began: when its last sender sent, if that was
  /// later than it came, since until then it waits for him rather than communicates.
  double perform(const ShardWork& work, Lane& lane, TaskId task);
  double perform(const NeighbourWork& work, Lane& lane, TaskId task);

 private:
  double exchange(const SceneExchange& messages, Lane& lane, TaskId task);

  Scene& scene_;
  const Cluster& cluster_;
  const StepGraph& graph_;
  std::vector<std::vector<Inbox>> inboxes_;  ///< by task, then by number on the scene
};

}  // namespace stepcast
