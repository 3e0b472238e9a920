// The time that a stack adds to a collective, beside copies.
#pragma once

#include "models/collective/collective.hpp"
#include "models/part/stack.hpp"

namespace stepcast {

/// o for a collective among p workers of a communicator, and G·log2(p) + g·n·(p-1)/p more for an all-gather of n bytes;
/// 0 for one worker.
/// @param workers  of the cluster
Seconds stack_time(const Stack& stack, const CollectiveCall& call, int workers);

}  // namespace stepcast
