// What leaves machines by their NICs and racks by their uplinks.
#pragma once

#include <span>
#include <vector>

#include "models/part/cluster.hpp"
#include "models/part/nics.hpp"

namespace stepcast {

/// Workers and shards behind ways out that they share: a machine's NICs, a rack's uplink.
struct Branch {
  int count = 1;    ///< of branches that are alike, where none has shards
  int workers = 0;  ///< of one branch
  int ways = 1;     ///< in use, of equal bandwidth
  BytesPerSecond bandwidth{};  ///< of one way, in each direction
  std::vector<int> shards{};   ///< their numbers
  Nics nics{};                 ///< which of its workers have which way

  /// Of the i-th shard of the branch (shard_placement.hpp).
  [[nodiscard]] int way_of_shard(std::size_t i) const {
    return ways == 1 ? 0 : nics.of(nics.gpu_in_turn(static_cast<int>(i), workers));
  }
  /// By way: how many workers have it, and how many shards.
  [[nodiscard]] std::vector<int> workers_by_way() const;
  [[nodiscard]] std::vector<int> shards_by_way() const;
};

/// The branches of the cluster, with `shards` shards on their hosts (shard_placement.hpp). None where nothing but
/// hosts' own links is shared, or where ways differ by destination.
std::vector<Branch> branches(const Cluster& cluster, int shards, bool co_located);

/// The racks of machines as branches, whose only way is their uplink. None where there are none.
std::vector<Branch> rack_branches(const Cluster& cluster, int shards, bool co_located);

/// Time that the busiest way needs for what p workers push to shards, shard_bytes[j] each, or pull from them. What
/// stays in a branch takes no way:
///
///     out   workers of the way · (n - shards of the branch)
///     in    shards of the way · (p - workers of the branch)
///
/// @param all  the branches that those shards are in
Seconds busiest_way(std::span<const Bytes> shard_bytes, const std::vector<Branch>& all, int p);

}  // namespace stepcast
