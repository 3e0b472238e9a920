// A study in a few lines: for `stepcast show FILE`.
#pragma once

#include <string>

#include "models/study/study.hpp"

namespace stepcast {

/// The summary names the workload, the cluster, the strategy, and the axes with their values. With several points, parts
/// are those of the first.
/// @pre the study has a point
std::string summary_of(const Study& study);

}  // namespace stepcast
