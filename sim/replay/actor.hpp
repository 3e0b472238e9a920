// Access to simulated time for an actor of a replay.
#pragma once

#include "sim/platform/compat.hpp"

namespace stepcast {

inline double now() { return simgrid::s4u::Engine::get_clock(); }

inline void sleep(double seconds) {
  if (seconds > 0) simgrid::s4u::this_actor::sleep_for(seconds);
}

}  // namespace stepcast
