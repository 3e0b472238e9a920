// A cache of cluster prices between the points of a study.
#pragma once

#include <cstddef>
#include <list>
#include <utility>

#include "models/price/cluster_prices.hpp"

namespace stepcast {

/// The prices of the most recent clusters. A study's points often differ only in their workloads, compressors and
/// strategies. Not thread-safe.
class RecentPrices {
 public:
  static constexpr std::size_t kMost = 8;  ///< limits the memory for large fabrics

  /// The reference is valid until kMost other clusters are requested.
  const ClusterPrices& of(const Cluster& cluster);

 private:
  struct Priced {
    explicit Priced(Cluster priced) : cluster(std::move(priced)), prices(cluster) {}
    const Cluster cluster;
    const CachedPrices prices;
  };
  std::list<Priced> recent_;  ///< the most recent first
};

}  // namespace stepcast
