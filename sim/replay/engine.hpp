// The SimGrid engine of a replay, started with the options that the replay needs.
#pragma once

#include <cstddef>

#include "sim/platform/compat.hpp"

namespace stepcast {

/// Nearly no time is taken for none, only what is fatal is logged, and there is room for the stacks of so many actors.
/// There may be one engine in a process.
simgrid::s4u::Engine start_engine(std::size_t actors);

}  // namespace stepcast
