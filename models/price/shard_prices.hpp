// What workers exchange with the shards of servers amounts to.
#pragma once

#include <cstddef>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "models/collective/direct.hpp"
#include "models/fabric/round_flows.hpp"
#include "models/part/cluster.hpp"
#include "models/price/branches.hpp"

namespace stepcast {

/// What a push to (or pull from) shards costs. Its terms: shard_exchange_cost (collective/direct.hpp), where links are
/// unlike what the busiest host's own link must carry, and on nodes and racks at least what the busiest NIC or uplink
/// must carry (branches.hpp), in bytes of the slowest worker's link. Of equal shards and like links that is the load of
/// the busiest link of all, and the longest latency: where messages of the longest latency alone cross that link, no
/// sharing is faster, and fair sharing takes just as long.
///
/// Where they do not tell what fair sharing takes, and shards are equal, the messages are followed by their routes as a
/// round's are (fabric/round_flows.hpp), all at once: on unlike links, nodes and racks that shard_terms_are_exact is
/// not true of, fat trees, tori and dragonflies.
///
/// Keeps the branches and flows of each number of shards; not for several threads.
class ShardPrices {
 public:
  /// @pre `cluster` outlives this
  explicit ShardPrices(const Cluster& cluster) : cluster_(cluster) {}

  [[nodiscard]] CostTerms terms(std::span<const Bytes> shard_bytes, bool co_located) const;

  /// @param paths  of the cluster
  [[nodiscard]] PricedCost price(ShardExchange exchange, std::span<const Bytes> shard_bytes, bool co_located,
                                 const Prices& paths) const;

 private:
  /// Null where the terms tell, or there are more messages than are worth following.
  [[nodiscard]] const RoundFlows* flows(ShardExchange exchange, int shards, bool co_located) const;

  const Cluster& cluster_;
  /// Machines or racks, and racks of machines; by number of shards, and whether they are co-located.
  mutable std::map<std::pair<std::size_t, bool>, std::array<std::vector<Branch>, 2>> branches_;
  mutable std::map<std::tuple<ShardExchange, int, bool>, std::unique_ptr<const RoundFlows>> flows_;
};

/// Whether the messages of pushes to equal shards are few enough to be followed, on a topology whose routes are known.
bool shards_can_be_followed(const Cluster& cluster, int shards);

/// Whether steps of `buckets` pushes to equal shards and as many pulls take what ShardPrices says of each: fair
/// sharing does, and no participants get so far ahead of others that one task's messages slow another's.
bool shard_terms_are_exact(const Cluster& cluster, int shards, bool co_located, int buckets);

/// Time that the busiest of the workers' and shards' own links needs for a push to shards, shard_bytes[j] each, or a
/// pull.
/// @pre hosts have links of their own: a star or racks
Seconds busiest_host(std::span<const Bytes> shard_bytes, const Cluster& cluster, bool co_located);

}  // namespace stepcast
