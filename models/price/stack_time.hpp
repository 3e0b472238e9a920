// The time that a stack and a cluster add to a collective, beside its rounds.
#pragma once

#include "models/collective/collective.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

struct StackTime {
  Seconds operation{};  ///< o, and u·min(n, m) for a sum of n bytes
  Seconds gathering{};  ///< G·log2(p) + g·min(n, m)·(p-1)/p for an all-gather of n bytes
  [[nodiscard]] Seconds total() const { return operation + gathering; }
};

/// The time for a collective among p workers of a communicator; 0 for one worker.
/// @param workers  of the cluster
StackTime stack_time(const Stack& stack, const CollectiveCall& call, int workers);

/// κ·n for a collective of n bytes; 0 for one worker.
Seconds buffer_time(const Cluster& cluster, const CollectiveCall& call);

}  // namespace stepcast
