// The speed and link of each host, from the cluster's groups.
#pragma once

#include <vector>

#include "models/part/worker_kinds.hpp"

namespace stepcast {

/// Compute speed and link of the host of one rank.
struct HostSpec {
  double speed = 1.0;
  Link link{};
};

/// Hosts by rank: the workers, with groups at the end, then the dedicated parameter-server shards. Shards have the
/// plain speed and link.
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
