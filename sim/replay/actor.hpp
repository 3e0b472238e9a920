// What an actor of a replay asks and does about time.
#pragma once

#include "sim/platform/compat.hpp"

namespace stepcast {

inline double now() { return simgrid::s4u::Engine::get_clock(); }

inline void sleep(double seconds) {
  if (seconds > 0) simgrid::s4u::this_actor::sleep_for(seconds);
}

}  // namespace stepcast
