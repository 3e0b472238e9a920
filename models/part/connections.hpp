// The bandwidth that the connections of a message between machines give it.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "models/part/cluster.hpp"
#include "models/part/host_costs.hpp"

namespace stepcast {

/// k·c of the cluster's stack for a message between machines, unless its hosts' links are never wider.
inline std::optional<BytesPerSecond> connections_limit(const Cluster& cluster) {
  const Stack& stack = cluster.stack;
  if (!stack.connection_bandwidth) return {};
  const BytesPerSecond limit = *stack.connection_bandwidth * stack.connections;
  BytesPerSecond widest = cluster.link.bandwidth;
  for (const WorkerGroup& group : cluster.groups) widest = std::max(widest, group.bandwidth.value_or(widest));
  return limit < widest ? std::optional(limit) : std::nullopt;
}

/// The most that a message between two ranks can have; infinity without limit.
class MessageLimits {
 public:
  explicit MessageLimits(const Cluster& cluster)
      : machines_(host_costs(cluster)), between_(connections_limit(cluster).value_or(kNone)) {}

  [[nodiscard]] bool any() const { return between_ < kNone; }
  [[nodiscard]] BytesPerSecond of(int from, int to) const {
    return machines_.share_machine(from, to) ? kNone : between_;
  }

 private:
  static constexpr BytesPerSecond kNone{std::numeric_limits<double>::infinity()};
  HostCosts machines_;
  BytesPerSecond between_;
};

}  // namespace stepcast
