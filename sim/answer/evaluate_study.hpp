// Answers a whole study: equations here, replays in processes of their own.
#pragma once

#include "models/report/report.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// Evaluates every point (and its baseline) with the evaluators its scenario asks for. Scenarios that are alike
/// are evaluated once.
/// @param jobs  replay processes at a time
/// @throws ModelError   when a point cannot be answered, naming the point
/// @throws std::runtime_error when a replay process fails
Report evaluate_study(const Study& study, int jobs);

}  // namespace stepcast
