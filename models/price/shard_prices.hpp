// What workers exchange with the shards of servers amounts to.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "models/collective/cost.hpp"
#include "models/part/cluster.hpp"
#include "models/price/branches.hpp"

namespace stepcast {

/// What a push to (or pull from) shards amounts to: shard_exchange_cost (collective/direct.hpp), where links are unlike what
/// the busiest host's own link must carry, and on nodes and racks at least what the busiest NIC or uplink must carry
/// (branches.hpp), in bytes of the slowest worker's link. Of equal shards and like links that is the load of the busiest link
/// of all, and the longest latency: where messages of the longest latency alone cross that link, no sharing is faster, and
/// fair sharing takes just as long.
///
/// Keeps the branches of each number of shards; not for several threads.
class ShardPrices {
 public:
  /// @pre `cluster` outlives this
  explicit ShardPrices(const Cluster& cluster) : cluster_(cluster) {}

  [[nodiscard]] CostTerms operator()(std::span<const Bytes> shard_bytes, bool co_located) const;

 private:
  const Cluster& cluster_;
  mutable std::map<std::pair<std::size_t, bool>, std::vector<Branch>> branches_;  ///< by number of shards, and whether they are co-located
};

/// Whether steps of `buckets` pushes to equal shards and as many pulls take what ShardPrices says of each: fair
/// sharing does, and no participants get so far ahead of others that one task's messages slow another's.
bool shard_terms_are_exact(const Cluster& cluster, int shards, bool co_located, int buckets);

/// Time that the busiest of the workers' and shards' own links needs for a push to shards, shard_bytes[j] each, or a pull.
/// @pre hosts have links of their own: a star or racks
Seconds busiest_host(std::span<const Bytes> shard_bytes, const Cluster& cluster, bool co_located);

}  // namespace stepcast
