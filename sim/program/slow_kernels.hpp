// The other end of an answer that compressors' kernels decide. A compressor is priced as sweeps over the gradient, as one
// fused kernel would be. Kernels composed of a framework's operations take longer, so both ends make a range.
#pragma once

#include <string>

#include "models/report/report.hpp"
#include "models/study/study.hpp"
#include "sim/program/study_options.hpp"

namespace stepcast {

/// How many times as long composed kernels took at most: the survey's runs (scenarios/README.md).
inline constexpr int kComposedSlowdown = 20;

/// Whether some point compresses by kernels that nobody measured, and none says how slow they are.
bool may_have_slow_kernels(const Study& study);

/// Gives the scenario kernels of that slowness.
void slow_down_kernels(Scenario& scenario);

/// Adds "with kernels 20 times as slow: none is the fastest everywhere", the study's answer at the other end, to the
/// notes on the report's answer. Adds nothing if no point of the report has unmeasured kernels that take time, if a
/// replay answered (which takes as long again), or if the study sets the slowness itself.
void add_slow_kernels(const StudyOptions& options, const Study& study, int jobs, Report& report);

}  // namespace stepcast
