// The time that a stack adds to a collective, beside copies.
#pragma once

#include "models/collective/collective.hpp"
#include "models/part/stack.hpp"

namespace stepcast {

struct StackTime {
  Seconds operation{};  ///< o
  Seconds gathering{};  ///< G·log2(p) + g·n·(p-1)/p for an all-gather of n bytes
  [[nodiscard]] Seconds total() const { return operation + gathering; }
};

/// The time for a collective among p workers of a communicator; 0 for one worker.
/// @param workers  of the cluster
StackTime stack_time(const Stack& stack, const CollectiveCall& call, int workers);

}  // namespace stepcast
