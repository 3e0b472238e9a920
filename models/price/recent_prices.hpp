// The prices of clusters, kept from one point of a study to the next.
#pragma once

#include <cstddef>
#include <list>

#include "models/price/cluster_prices.hpp"

namespace stepcast {

/// The prices of the clusters asked for last, since a study's points often differ in their workloads, compressors and
/// strategies only. Not for several threads.
class RecentPrices {
 public:
  static constexpr std::size_t kMost = 8;  ///< bounds what is kept of large fabrics

  /// Good until kMost other clusters have been asked for.
  /// @pre `cluster` outlives this
  const ClusterPrices& of(const Cluster& cluster);

 private:
  std::list<ClusterPrices> recent_;  ///< the last first
};

}  // namespace stepcast
