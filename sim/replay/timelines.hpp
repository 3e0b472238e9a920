// Whose timelines a replay keeps.
#pragma once

#include <vector>

#include "models/part/worker_kinds.hpp"
#include "sim/replay/replay_log.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

/// Empty ones, to be recorded: of one worker of each class of a folded replay, or of each kind (speed, links); of all
/// where workers of a kind may differ.
std::vector<Timeline> empty_timelines(const SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph,
                                      const std::vector<WorkerKind>& kinds);

}  // namespace stepcast
