// What the cluster's groups say about each host.
#pragma once

#include "models/scenario/cluster.hpp"

namespace stepcast {

/// Compute speed and link of the host of one rank.
struct HostSpec {
  double speed = 1.0;
  Link link{};
};

/// Hosts by rank: first the workers, groups at their end, then dedicated parameter-server shards, which are like
/// the plain workers.
class HostSpecs {
 public:
  /// @pre `cluster` outlives this
  explicit HostSpecs(const Cluster& cluster) : cluster_(cluster), first_grouped_(cluster.workers) {
    for (const WorkerGroup& group : cluster.groups) first_grouped_ -= group.count;
  }

  [[nodiscard]] HostSpec of(int rank) const {
    HostSpec spec{1.0, cluster_.link};
    int end = first_grouped_;
    if (rank < end || rank >= cluster_.workers) return spec;
    for (const WorkerGroup& group : cluster_.groups) {
      end += group.count;
      if (rank >= end) continue;
      spec.speed = group.speed;
      spec.link.bandwidth = group.bandwidth.value_or(cluster_.link.bandwidth);
      spec.link.latency = group.latency.value_or(cluster_.link.latency);
      break;
    }
    return spec;
  }

 private:
  const Cluster& cluster_;
  int first_grouped_;
};

}  // namespace stepcast
