// What the cluster's groups say about each host.
#pragma once

#include <vector>

#include "models/part/worker_kinds.hpp"

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
  explicit HostSpecs(const Cluster& cluster) : plain_{1.0, cluster.link}, kinds_(worker_kinds(cluster)) {}

  [[nodiscard]] HostSpec of(int rank) const {
    for (const WorkerKind& kind : kinds_)
      if (rank >= kind.first && rank < kind.first + kind.count) return {kind.speed, kind.link};
    return plain_;
  }

 private:
  HostSpec plain_;
  std::vector<WorkerKind> kinds_;
};

}  // namespace stepcast
