// Whose timelines a replay keeps.
#pragma once

#include <cstddef>
#include <vector>

#include "models/part/worker_kinds.hpp"
#include "sim/replay/scene.hpp"

namespace stepcast {

/// A worker, for all whose timeline is the same.
struct RecordedWorker {
  std::size_t worker = 0;       ///< on the scene
  double weight = 0.0;          ///< in the mean of all workers
  std::vector<double> of_kind;  ///< in that of each kind
};

/// One worker of each class of a folded scene, or of each kind (speed, links); all where workers of a kind may differ.
std::vector<RecordedWorker> recorded_workers(const Scene& scene, const Cluster& cluster, const StepGraph& graph,
                                             const std::vector<WorkerKind>& kinds);

}  // namespace stepcast
