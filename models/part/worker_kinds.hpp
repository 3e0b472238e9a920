// The kinds of workers that a cluster's groups define.
#pragma once

#include <algorithm>
#include <vector>

#include "models/part/cluster.hpp"

namespace stepcast {

/// Workers `first` .. `first + count - 1`, with one speed and one kind of link.
struct WorkerKind {
  int first = 0, count = 0;
  double speed = 1.0;
  Link link{};
  bool operator==(const WorkerKind&) const = default;
};

/// The kinds in rank order: first the workers in no group, if any, then the groups.
inline std::vector<WorkerKind> worker_kinds(const Cluster& cluster) {
  int plain = cluster.workers;
  for (const WorkerGroup& group : cluster.groups) plain -= group.count;
  std::vector<WorkerKind> kinds;
  if (plain > 0) kinds.push_back({0, plain, 1.0, cluster.link});
  int first = plain;
  for (const WorkerGroup& group : cluster.groups) {
    kinds.push_back({first,
                     group.count,
                     group.speed,
                     {group.bandwidth.value_or(cluster.link.bandwidth), group.latency.value_or(cluster.link.latency)}});
    first += group.count;
  }
  return kinds;
}

/// Whether all workers compute at one speed.
inline bool workers_are_alike(const Cluster& cluster) {
  const std::vector<WorkerKind> kinds = worker_kinds(cluster);
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](const WorkerKind& kind) { return kind.speed == kinds.front().speed; });
}

/// Speeds of all workers together. A synchronous step's compute time is 1/slowest. All workers do `sum` times the work
/// of one worker with speed 1.
struct WorkerSpeeds {
  double slowest = 1.0, sum = 0.0;
};
inline WorkerSpeeds worker_speeds(const Cluster& cluster) {
  const std::vector<WorkerKind> kinds = worker_kinds(cluster);
  WorkerSpeeds speeds{kinds.front().speed, 0.0};
  for (const WorkerKind& kind : kinds) {
    if (kind.count == 0) continue;
    speeds.slowest = std::min(speeds.slowest, kind.speed);
    speeds.sum += kind.count * kind.speed;
  }
  return speeds;
}

}  // namespace stepcast
