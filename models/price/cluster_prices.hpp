// What a cluster's workers pay for what they exchange.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/fabric/round_flows.hpp"
#include "models/part/cluster.hpp"
#include "models/price/path_prices.hpp"
#include "models/price/shard_prices.hpp"

namespace stepcast {

/// Whether collectives of that operation are priced by the routes of their messages, round by round, instead of
/// collective_prices: wherever that one is an estimate for the shape of the cluster, up to 4096 workers, and 512 for
/// all-to-all, whose p - 1 rounds are all unlike. A platform file's routes are SimGrid's alone.
bool routes_are_priced(const Cluster& cluster, Operation operation);

/// Prices of what a cluster's workers exchange: of collectives among all of them or in communicators of theirs, and
/// with the shards of servers.
///
/// Collectives are priced by the closed forms and collective_prices, or where routes are priced, round by round
/// (fabric/round_flows.hpp), contention on every link included. The latter equals the replay on ideal transport,
/// whatever algorithm and topology, in rounds of up to RoundFlows::kMostFollowed messages; one of more may be as much
/// too long as its routes' latencies differ. What the hosts copy and add is the closed form's in both.
///
/// Keeps what it found out about rounds and shards; not for several threads.
class ClusterPrices {
 public:
  /// @pre `cluster` outlives this
  explicit ClusterPrices(const Cluster& cluster)
      : cluster_(cluster), paths_(collective_prices(cluster)), shards_(cluster) {}

  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const Prices& paths() const { return paths_; }
  [[nodiscard]] PricedCost operator()(const CollectiveCall& call) const;

  /// Whether that price is the replay's, to rounding.
  /// @pre routes_are_priced(cluster, call.algorithm->operation)
  [[nodiscard]] bool is_exact(const CollectiveCall& call) const;

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

  /// Decides "auto": the algorithm of the lowest price, its segments by the closed form.
  [[nodiscard]] CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among = {}) const;

 private:
  struct PricedRound {
    std::shared_ptr<const RoundFlows> flows;
    int blocks = 1;  ///< of the collective, in one of the flows'
    int times = 1;   ///< rounds that are alike
  };
  struct PricedRounds {
    int blocks = 1;  ///< that the buffer is cut into
    std::vector<PricedRound> rounds;
  };
  [[nodiscard]] Seconds least(const CollectiveCall& call) const;
  [[nodiscard]] const PricedRounds& rounds_of(const CollectiveCall& call) const;
  [[nodiscard]] PricedRound priced(const Round& round) const;
  [[nodiscard]] bool neighbours_are_routed() const;
  [[nodiscard]] const RoundFlows& neighbour_flows() const;

  const Cluster& cluster_;
  Prices paths_;
  ShardPrices shards_;
  mutable std::optional<Fabric> fabric_;
  /// By {from, to, blocks} of its messages.
  mutable std::map<std::vector<std::array<int, 3>>, std::shared_ptr<const RoundFlows>> known_;
  mutable std::map<CallKey, PricedRounds> rounds_;
  mutable std::shared_ptr<const RoundFlows> neighbours_;
  /// Bounds what a study leaves whose points all have other buffers.
  static constexpr std::size_t kMostPrices = 1 << 16;
  mutable std::map<std::pair<CallKey, Bytes>, PricedCost> prices_;
};

}  // namespace stepcast
