// Whose timelines a replay keeps.
#pragma once

#include <vector>

#include "models/part/worker_kinds.hpp"
#include "sim/replay/replay_log.hpp"
#include "sim/replay/scene.hpp"

namespace stepcast {

/// Empty ones, to be recorded: of one worker of each class of a folded scene, or of each kind (speed, links); of all
/// where workers of a kind may differ.
std::vector<Timeline> empty_timelines(const Scene& scene, const Cluster& cluster, const StepGraph& graph,
                                      const std::vector<WorkerKind>& kinds);

}  // namespace stepcast
