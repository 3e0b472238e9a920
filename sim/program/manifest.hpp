// The origin of a result: enough to make it again, and nothing that changes from run to run.
#pragma once

#include "models/study/study.hpp"

namespace stepcast {

/// Arguments, versions, git state, the resolved scenario of every point with its hash, the workloads, seeds and
/// SimGrid's settings.
Json make_manifest(const Study& study, const std::vector<std::string>& arguments);

}  // namespace stepcast
