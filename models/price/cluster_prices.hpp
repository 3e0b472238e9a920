// The prices of all exchanges among a cluster's workers.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/collective/neighbours.hpp"
#include "models/fabric/round_flows.hpp"
#include "models/part/cluster.hpp"
#include "models/price/stack_time.hpp"
#include "models/price/protocol_prices.hpp"
#include "models/price/shard_prices.hpp"

namespace stepcast {

/// The data from which prices of one cluster's exchanges are computed: routes, flows of rounds, and prices of calls. A
/// price is the same with an empty cache, but may take a second. The cache grows with the calls that are priced.
struct PriceCache {
  std::deque<ProtocolPrices::Cache> protocols;  ///< one for each of protocols_of(cluster)
  ShardPrices::Cache shards;
  std::map<Neighbours, RoundFlows> neighbours;
};

/// Prices of the workers' exchanges: collectives among all workers or in communicators, and exchanges with
/// parameter-server shards.
///
/// A collective uses the fastest of the cluster's protocols (protocol_prices.hpp).
/// Other messages use the links without a protocol.
///
/// Writes to its cache, so it is not thread-safe.
class ClusterPrices {
 public:
  /// On TCP: those of the ideal_equivalent.
  /// @param cache  empty, or from prices of an equal cluster
  /// @pre `cluster` and `cache` outlive this
  ClusterPrices(const Cluster& cluster, PriceCache& cache);

  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] PricedCost operator()(const CollectiveCall& call) const {
    PricedCost cost = protocol(call)(call);
    cost.setup += buffer_time(cluster_, call);
    const StackTime stack = stack_time(cluster_.stack, call, cluster_.workers);
    cost.operation = stack.operation;
    cost.gathering = stack.gathering;
    return cost;
  }

  /// The largest possible deviation of the replay's time from that price on ideal transport, up or down. It is 0 for an
  /// exact price, and infinity if nothing is known.
  [[nodiscard]] Seconds slack(const CollectiveCall& call) const { return protocol(call).slack(call); }

  /// The terms of a push of shard_bytes[j] to each shard j, or of a pull, and the price.
  [[nodiscard]] CostTerms shard_terms(std::span<const Bytes> shard_bytes, bool co_located) const {
    return shards_.terms(shard_bytes, co_located);
  }
  [[nodiscard]] PricedCost shards(ShardExchange exchange, std::span<const Bytes> shard_bytes, bool co_located) const {
    return shards_.price(exchange, shard_bytes, co_located, paths_);
  }

  /// The time of an exchange with neighbours that all workers start together: neighbour_exchange_cost
  /// (collective/neighbours.hpp) without S. The messages follow their routes like those of a round. Each uses its own
  /// worker's NIC.
  [[nodiscard]] PricedCost neighbours(const Neighbours& neighbours, Bytes bytes, Bytes added) const;

  /// Whether that time is exact for gossip steps in the replay, where equal workers do not wait for all others. It is
  /// exact if the messages on the most loaded link have the longest latency. No message is slower than the fair share
  /// of that link. The link has at most one message from each sender to each receiver, so no worker ends later. The
  /// senders over that link start together in the first step and need all of that time, so they start together in the
  /// next step.
  ///
  /// On a star of like workers, the busiest link belongs to the worker with most neighbours, which also adds most.
  /// Elsewhere all workers must have equally many neighbours, if they add or copy. If a message's own connections take
  /// longest, workers must be on a star and have equally many. If neighbours change by step, workers
  /// may be in several steps at once. Only a star of like workers keeps them together then.
  [[nodiscard]] bool neighbours_are_exact(const Neighbours& neighbours) const;

  /// Decides "auto" and the protocol by the lowest price. The closed form gives the algorithm's segments.
  [[nodiscard]] CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among = {}) const;

 private:
  [[nodiscard]] const ProtocolPrices& protocol(const CollectiveCall& call) const { return *protocols_[call.protocol]; }
  [[nodiscard]] bool are_routed(const Neighbours& neighbours) const;
  [[nodiscard]] const RoundFlows& flows_of(const Neighbours& neighbours) const;

  const Cluster& cluster_;
  const Cluster ideal_;
  Prices paths_;
  ShardPrices shards_;
  std::vector<std::unique_ptr<const ProtocolPrices>> protocols_;  ///< one for each of protocols_of(cluster)
  PriceCache& cache_;
};

namespace detail {
struct OwnCache {
  PriceCache cache;
};
}  // namespace detail

/// Prices with a cache of their own, which lives as long as they do.
class CachedPrices : private detail::OwnCache, public ClusterPrices {
 public:
  explicit CachedPrices(const Cluster& cluster) : ClusterPrices(cluster, cache) {}
};

}  // namespace stepcast
