// Records the tasks of a replay: timelines of some workers, and every task for an observer.
#pragma once

#include <utility>
#include <vector>

#include "models/part/worker_kinds.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/replay_log.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

/// Empty timelines to record into. In a folded replay, one worker of each class has a timeline; in a full replay, one
/// of each kind (speed, links). If workers of a kind may differ, all of them have one.
std::vector<Timeline> empty_timelines(const SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph,
                                      const std::vector<WorkerKind>& kinds);

class Recorder {
 public:
  /// @param timelines  filled for the workers that they name
  Recorder(std::vector<Timeline> timelines, const std::vector<Participant>& participants, const StepGraph& graph,
           const TaskObserver& observer);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// A participant has ended a task of `step`.
  void add(const Participant& participant, TaskId task, int step, double start, double end);

  /// To be called after the last task.
  std::vector<Timeline> take_timelines() { return std::move(timelines_); }

 private:
  const StepGraph& graph_;
  const TaskObserver& observer_;
  std::vector<Timeline> timelines_;
  std::vector<Timeline*> timeline_of_;  ///< by participant; null without a timeline
};

}  // namespace stepcast
