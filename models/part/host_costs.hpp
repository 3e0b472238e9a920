// The time that hosts take to copy messages, by the machines of both ends.
#pragma once

#include <algorithm>

#include "models/part/cluster.hpp"

namespace stepcast {

/// h by class of link. Hosts of topologies without machines are a machine each, and so are dedicated servers.
struct HostCosts {
  SecondsPerByte between{};  ///< for a message to or from another machine
  SecondsPerByte inside{};   ///< for a message inside a machine
  int workers_of_machine = 1;
  int workers = 1;  ///< ranks from this number on are dedicated servers

  /// The cost of a message between two ranks; 0 within a rank.
  [[nodiscard]] SecondsPerByte of(int a, int b) const {
    if (a == b) return {};
    return share_machine(a, b) ? inside : between;
  }
  [[nodiscard]] bool share_machine(int a, int b) const {
    return a < workers && b < workers && a / workers_of_machine == b / workers_of_machine;
  }
  [[nodiscard]] bool is_one_machine() const { return workers <= workers_of_machine; }
  /// Whether messages among workers leave machines. Each worker may be a machine.
  [[nodiscard]] bool leave_machines() const { return workers_of_machine == 1 || !is_one_machine(); }
  /// Whether messages among workers are of both classes, and these differ.
  [[nodiscard]] bool differ() const { return workers_of_machine > 1 && !is_one_machine() && between != inside; }
  /// The least among workers.
  [[nodiscard]] SecondsPerByte least() const {
    if (workers_of_machine == 1) return between;
    return is_one_machine() ? inside : std::min(between, inside);
  }
  [[nodiscard]] bool any() const { return between > SecondsPerByte{} || inside > SecondsPerByte{}; }
};

inline HostCosts host_costs(const Cluster& cluster) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  return {cluster.stack.host_cost, cluster.stack.inner_host_cost, nodes ? nodes->gpus_per_node : 1, cluster.workers};
}

}  // namespace stepcast
