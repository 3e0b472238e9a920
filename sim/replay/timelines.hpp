// The choice of workers whose timelines a replay keeps.
#pragma once

#include <vector>

#include "models/part/worker_kinds.hpp"
#include "sim/replay/replay_log.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

/// Empty timelines to record into: of one worker of each class in a folded replay, or of each kind (speed, links). If
/// workers of a kind may differ, all of them have one.
std::vector<Timeline> empty_timelines(const SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph,
                                      const std::vector<WorkerKind>& kinds);

}  // namespace stepcast
