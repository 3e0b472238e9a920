// What a cluster's workers pay for what they exchange.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/fabric/round_flows.hpp"
#include "models/part/cluster.hpp"
#include "models/price/protocol_prices.hpp"
#include "models/price/shard_prices.hpp"

namespace stepcast {

/// Prices of what a cluster's workers exchange: of collectives among all of them or in communicators of theirs, and
/// with the shards of servers.
///
/// A collective goes by the protocol of the cluster's that it takes least time by (protocol_prices.hpp). Other messages
/// have the links as they are.
///
/// Keeps what it found out about rounds and shards; not for several threads.
class ClusterPrices {
 public:
  /// On TCP: those of the ideal_equivalent.
  /// @pre `cluster` outlives this
  explicit ClusterPrices(const Cluster& cluster);

  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] PricedCost operator()(const CollectiveCall& call) const { return protocol(call)(call); }

  /// How much more or less than that price the replay may take on ideal transport: 0 where it takes just as long,
  /// infinity where nothing is known.
  [[nodiscard]] Seconds slack(const CollectiveCall& call) const { return protocol(call).slack(call); }

  /// What a push to shards, shard_bytes[j] each, or a pull from them amounts to, and what it costs.
  [[nodiscard]] CostTerms shard_terms(std::span<const Bytes> shard_bytes, bool co_located) const {
    return shards_.terms(shard_bytes, co_located);
  }
  [[nodiscard]] PricedCost shards(ShardExchange exchange, std::span<const Bytes> shard_bytes, bool co_located) const {
    return shards_.price(exchange, shard_bytes, co_located, paths_);
  }

  /// What the exchange with both ring neighbours takes where all workers start it at once: neighbour_exchange_cost
  /// (collective/direct.hpp) without S, its messages followed by their routes as a round's are, each over its own
  /// worker's NIC.
  [[nodiscard]] PricedCost neighbours(Bytes bytes) const;

  /// Whether a step of gossip among like workers takes what that says in the replay, where nobody waits for all others.
  /// Where the longest latency and the most loaded link belong to the same messages it does: no message is ever slower
  /// than the fair share of that link, on which there is at most one from each sender to each receiver, so nobody ends
  /// later. And those who send over that link start together in the first step, need all of that time, and so start
  /// together in the next.
  [[nodiscard]] bool neighbours_are_exact() const;

  /// Decides "auto", and the protocol: those of the lowest price, the algorithm's segments by the closed form.
  [[nodiscard]] CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among = {}) const;

 private:
  [[nodiscard]] const ProtocolPrices& protocol(const CollectiveCall& call) const {
    return *protocols_[static_cast<std::size_t>(call.protocol)];
  }
  [[nodiscard]] bool neighbours_are_routed() const;
  [[nodiscard]] const RoundFlows& neighbour_flows() const;

  const Cluster& cluster_;
  const Cluster ideal_;
  Prices paths_;
  ShardPrices shards_;
  std::vector<std::unique_ptr<const ProtocolPrices>> protocols_;  ///< beside protocols_of(cluster)
  mutable std::optional<RoundFlows> neighbours_;
};

}  // namespace stepcast
