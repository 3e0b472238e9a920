// One replay as a job for a process, and its answer on the way back.
#pragma once

#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/forecast/forecast.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

struct ReplayJob {
  const Scenario* scenario = nullptr;
  const StepGraph* graph = nullptr;
  int run = 0;
};

/// Replays in this process (once per process) and packs the result.
Json answer(const ReplayJob& job);

/// The samples of a packed result (ReplayResult::samples).
std::vector<double> samples_of(const Json& answer);

/// The forecast from the packed results of all runs of one scenario. It has the means over runs and, with jitter, the
/// percentiles over all their steps.
StepForecast combine(const std::vector<Json>& runs);

}  // namespace stepcast
