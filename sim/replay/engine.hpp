// The SimGrid engine of a replay, started with the options that the replay needs.
#pragma once

#include <cstddef>

#include "sim/platform/compat.hpp"

namespace stepcast {

/// Short times are not rounded to zero, only fatal messages are logged, and there is room for the stacks of so many
/// actors. A process may have one engine.
simgrid::s4u::Engine start_engine(std::size_t actors);

}  // namespace stepcast
