// The time that a stack adds to an all-gather.
#pragma once

#include "models/collective/collective.hpp"
#include "models/part/stack.hpp"

namespace stepcast {

/// G·log2(p) + g·n·(p-1)/p for an all-gather of n bytes among p workers of a communicator; 0 for other collectives and
/// for one worker.
/// @param workers  of the cluster
Seconds gather_time(const Stack& stack, const CollectiveCall& call, int workers);

}  // namespace stepcast
