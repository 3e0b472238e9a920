// Other rooms reach SimGrid by two functions. Its libraries take 45 ms to load, which most commands can spare.
//
// simulator() has two definitions. Tests and other programs are linked to SimGrid (simulator.cpp). The stepcast program
// loads it when it is first asked (sim/program/loaded_simulator.cpp, decision 0116).
#pragma once

#include <string>

#include "sim/replay/inspect_platform.hpp"
#include "sim/replay/replay.hpp"

namespace stepcast {

/// A function of SimGrid's files that another room needs is added here and in simulator.cpp.
struct Simulator {
  decltype(&stepcast::replay) replay;
  decltype(&stepcast::inspect_platform_within) inspect_platform;
};

/// Ask for it before forking a process that replays. Otherwise, each such process loads SimGrid.
/// @throws std::runtime_error when it cannot be loaded
const Simulator& simulator();

/// Inspects a file within the usual limits: a PlatformInspector.
inline PlatformFacts inspect_platform(const std::string& file) { return simulator().inspect_platform(file, {}); }

}  // namespace stepcast
