// The program's identity.
#pragma once

#include <string>

namespace stepcast::calibrate {

/// "stepcast-calibrate 0.1.0 (git abc1234, with CUDA 13.0.88)"
std::string version_text();
/// "0.1.0"
std::string version_number();
/// State of the sources: a commit, "-dirty" appended where they differ from it, or "unknown".
std::string git_state();
/// How the kernels were compiled.
std::string build_flags();
/// Two programs of one identity run the same kernels. It is version_text() and build_flags(); if the source is not that
/// of a commit, the program's digest is added.
std::string identity();

}  // namespace stepcast::calibrate
