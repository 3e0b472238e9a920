#include "sim/replay/simulator.hpp"

namespace stepcast {

/// The name by which a program finds it in the loaded module.
extern "C" const Simulator stepcast_simulator;
const Simulator stepcast_simulator{replay, inspect_platform_within};

const Simulator& simulator() { return stepcast_simulator; }

}  // namespace stepcast
