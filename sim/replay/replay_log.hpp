// The record of a running replay, and the answer that follows from it. Nothing here simulates.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "models/forecast/breakdown.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/scenario/scenario.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/step_progress.hpp"

namespace stepcast {

/// The times of one worker's work, by passes of the step graph, for all workers that do the same.
struct Timeline {
  std::size_t worker = 0;                          ///< in the simulation
  double weight = 0.0;                             ///< in the mean over all workers
  std::vector<double> of_kind;                     ///< in the mean over each kind
  std::deque<std::pair<int, Interval>> intervals;  ///< each with its pass
};

/// Adds a task's time. Work that follows in the same phase of the same pass extends the interval, like the backward
/// passes of many tensors.
void append(const Interval& interval, int pass, Timeline& timeline);

/// Passes of the step graph are counted from 0. All times are in seconds.
struct ReplayLog {
  using TimelineVisitor = std::function<void(const Timeline&)>;

  std::vector<WorkerKind> kinds;
  std::function<void(const TimelineVisitor&)> each_timeline;  ///< calls for one timeline after the other
  /// By pass: the time when all participants had ended it. With backup workers, by update: when all shards had made it.
  std::vector<double> pass_ends;
  /// By worker and pass: the time when the worker ended it. May go beyond the last of pass_ends.
  std::vector<std::vector<double>> worker_pass_ends;
  std::optional<Period> period;  ///< found at the end of pass number `proven`
  int proven = 0;
};

/// Whether passes may have a period. They have none if they differ by chance, or by the order of arrival at a server.
bool may_repeat(const Scenario& scenario, const StepGraph& graph);

/// Passes at the start that differ from later ones: Pipe-SGD's warm-up.
int warmup_passes(const Scenario& scenario);

/// Step time, breakdown and, without a period, the samples. They are for training steps; a pass may hold several.
ReplayResult result_of(const ReplayLog& log, const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
