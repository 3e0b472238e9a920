// Which workers a cluster's groups make alike.
#pragma once

#include <vector>

#include "models/scenario/cluster.hpp"

namespace stepcast {

/// Workers `first` .. `first + count - 1`, of one speed and one kind of link.
struct WorkerKind {
  int first = 0, count = 0;
  double speed = 1.0;
  Link link{};
  bool operator==(const WorkerKind&) const = default;
};

/// Workers in no group, where there are any, then group by group, which are at the end of the ranks in their order.
inline std::vector<WorkerKind> worker_kinds(const Cluster& cluster) {
  int plain = cluster.workers;
  for (const WorkerGroup& group : cluster.groups) plain -= group.count;
  std::vector<WorkerKind> kinds;
  if (plain > 0) kinds.push_back({0, plain, 1.0, cluster.link});
  int first = plain;
  for (const WorkerGroup& group : cluster.groups) {
    kinds.push_back({first, group.count, group.speed, {group.bandwidth.value_or(cluster.link.bandwidth), group.latency.value_or(cluster.link.latency)}});
    first += group.count;
  }
  return kinds;
}

}  // namespace stepcast
