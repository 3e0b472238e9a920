// The traffic that leaves machines through NICs and racks through uplinks.
#pragma once

#include <span>
#include <vector>

#include "models/part/cluster.hpp"
#include "models/part/nics.hpp"

namespace stepcast {

/// Workers and shards that share ways out: a machine's NICs, or a rack's uplink.
struct Branch {
  int count = 1;               ///< number of equal branches; equal ones have no shards
  int workers = 0;             ///< in one branch
  int ways = 1;                ///< ways in use, with equal bandwidth
  BytesPerSecond bandwidth{};  ///< bandwidth of one way, in each direction
  std::vector<int> shards{};   ///< numbers of the shards
  Nics nics{};                 ///< the way of each worker

  /// The way of the i-th shard in the branch (shard_placement.hpp).
  [[nodiscard]] int way_of_shard(std::size_t i) const {
    return ways == 1 ? 0 : nics.of(nics.gpu_in_turn(static_cast<int>(i), workers));
  }
  /// By way: the number of workers that use it, and the number of shards.
  [[nodiscard]] std::vector<int> workers_by_way() const;
  [[nodiscard]] std::vector<int> shards_by_way() const;
};

/// The branches of the cluster, with `shards` shards on their hosts (shard_placement.hpp). Empty if hosts share nothing
/// but their own links, or if ways depend on the destination.
std::vector<Branch> branches(const Cluster& cluster, int shards, bool co_located);

/// The racks of machines as branches, with their uplink as the only way. Empty without such racks.
std::vector<Branch> rack_branches(const Cluster& cluster, int shards, bool co_located);

/// Time of the busiest way when p workers push shard_bytes[j] to each shard j, or pull from them. Traffic inside a
/// branch uses no way:
///
///     out   workers of the way · (n - shards of the branch)
///     in    shards of the way · (p - workers of the branch)
///
/// @param all  the branches of those shards
Seconds busiest_way(std::span<const Bytes> shard_bytes, const std::vector<Branch>& all, int p);

}  // namespace stepcast
