// The prices of the workers' exchanges with parameter-server shards.
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

/// The price of a push to shards, or of a pull. The terms are shard_exchange_cost (collective/direct.hpp). With unequal
/// links, they are the load of the busiest host's own link. On nodes and racks, they are at least the load of the
/// busiest NIC or uplink (branches.hpp), in bytes of the slowest worker's link. With equal shards and links, they give
/// the busiest link's load and the longest latency. If only messages with the longest latency cross that link, no
/// sharing is faster, and fair sharing takes exactly as long.
///
/// The terms may not give the time under fair sharing. For equal shards, all messages then follow their routes
/// together, like those of a round (fabric/round_flows.hpp). This applies to unequal links, fat trees, tori and
/// dragonflies. It also applies to nodes and racks without shard_terms_are_exact, and if connections limit messages
/// (part/connections.hpp).
///
/// Writes to its cache, so it is not thread-safe.
class ShardPrices {
 public:
  /// Branches and flows of one cluster, for each number of shards.
  struct Cache {
    /// Machines or racks, and racks of machines. The key is the number of shards and whether they are co-located.
    std::map<std::pair<std::size_t, bool>, std::array<std::vector<Branch>, 2>> branches;
    std::map<std::tuple<ShardExchange, int, bool>, std::unique_ptr<const RoundFlows>> flows;
  };

  /// @pre `cluster` and `cache` outlive this
  ShardPrices(const Cluster& cluster, Cache& cache) : cluster_(cluster), cache_(cache) {}

  [[nodiscard]] CostTerms terms(std::span<const Bytes> shard_bytes, bool co_located) const;

  /// @param paths  the cluster's prices
  [[nodiscard]] PricedCost price(ShardExchange exchange, std::span<const Bytes> shard_bytes, bool co_located,
                                 const Prices& paths) const;

 private:
  /// Null if the terms are enough, or if there are too many messages to follow.
  [[nodiscard]] const RoundFlows* flows(ShardExchange exchange, int shards, bool co_located) const;

  const Cluster& cluster_;
  Cache& cache_;
};

/// Whether pushes to equal shards have few enough messages to follow, on a topology with known routes.
bool shards_can_be_followed(const Cluster& cluster, int shards);

/// Whether ShardPrices is exact for steps with `buckets` pushes to equal shards and as many pulls. Each exchange must
/// take as long as under fair sharing. No participant may get so far ahead that one task's messages slow another's.
bool shard_terms_are_exact(const Cluster& cluster, int shards, bool co_located, int buckets);

/// Time of the busiest host link for a push of shard_bytes[j] to each shard j, or a pull. Links of workers and shards
/// both count.
/// @pre hosts have their own links: a star or racks
Seconds busiest_host(std::span<const Bytes> shard_bytes, const Cluster& cluster, bool co_located);

}  // namespace stepcast
