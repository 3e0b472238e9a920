// The times of collectives with one protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/fabric/fingerprint.hpp"
#include "models/fabric/round_flows.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Limit on the routed messages in a collective's distinct rounds. Routing that many takes some ten seconds.
inline constexpr double kMostRouted = 1 << 26;

/// Whether prices follow the routes of messages, round by round. They do where collective_prices is only an estimate
/// for the cluster's shape. They do not for a platform file, since only SimGrid knows its routes.
bool routes_are_known(const Cluster& cluster);

/// Prices of collectives with one protocol, among all workers of a cluster or in communicators.
///
/// The closed forms and collective_prices give the price. With known routes, up to kMostRouted messages are priced
/// round by round, with contention (fabric/round_flows.hpp). Additions use the closed form; copies are those of each round.
/// Rounds overlap as the stack's slices say (round_pace.hpp).
///
/// Routed prices equal the replay's time on ideal transport, for every algorithm and topology. They are exact if the
/// distinct rounds have at most kAlwaysFollowed messages or closed forms. Otherwise rounds with the widest bounds are
/// followed first, until the total is within kWithin. `slack` is the largest possible error of a price.
///
/// Writes to its cache, so it is not thread-safe. A price does not depend on earlier calls.
class ProtocolPrices {
 public:
  static constexpr double kAlwaysFollowed = 1 << 18;
  static constexpr double kWithin = 4e-3;
  static constexpr double kMostFolded = 1 << 22;  ///< limit on the messages in the followed rounds of a call

  struct Cache;
  ProtocolPrices(const Cluster& cluster, const Protocol& protocol, Cache& cache);

  [[nodiscard]] PricedCost operator()(const CollectiveCall& call) const { return priced(call).cost; }

  /// The largest possible deviation of the replay's time from the price; infinity if nothing is known.
  [[nodiscard]] Seconds slack(const CollectiveCall& call) const { return is_exact_ ? Seconds{} : priced(call).slack; }

  /// Decides "auto": the algorithm and parameters with the lowest price. It does not decide the call's protocol.
  [[nodiscard]] CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among) const;

 private:
  struct Priced {
    PricedCost cost;
    Seconds slack{};
  };
  struct PricedRound {
    std::shared_ptr<RoundFlows> flows;
    RoundLoad load;         ///< with `blocks` taken out
    int blocks = 1;         ///< blocks of the collective in one block of `flows`
    int times = 1;          ///< number of equal rounds
    int number = 0;         ///< number of the first of them
    bool has_last = false;  ///< whether the collective's last round is one of them
  };
  struct PricedRounds {
    Schedule schedule;
    CallKey pipeline;  ///< of the call, with any number of segments
    std::vector<LikeRounds> unlike;
    std::vector<PricedRound> rounds;  ///< prices of the first entries of `unlike`, as far as needed

    [[nodiscard]] Bytes block(const PricedRound& round, Bytes all) const {
      return all * (static_cast<double>(round.blocks) / schedule.blocks);
    }
  };
  [[nodiscard]] bool is_routed(const CollectiveCall& call) const;
  [[nodiscard]] Priced priced(const CollectiveCall& call) const;
  [[nodiscard]] Priced by_routes(const CollectiveCall& call, const CostTerms& terms) const;
  [[nodiscard]] CallTimes::Bounds bounds(const CollectiveCall& call, Seconds limit) const;
  [[nodiscard]] PricedRounds& rounds_of(const CollectiveCall& call) const;
  [[nodiscard]] const PricedRound& round(PricedRounds& all, std::size_t i) const;
  [[nodiscard]] PricedRound priced(Round round, bool goes_around, bool of_pipeline) const;
  /// How much longer the round is on the wire because of switches that add up at less than line rate.
  [[nodiscard]] double slowed(const PricedRound& round) const {
    return round.load.in_network ? 1.0 / cluster_.in_network_factor.value_or(1.0) : 1.0;
  }
  /// A round's time, and the whole of its rounds', if each is on the wire for `wire` after the latency of `flows`, or
  /// longer if switches add up at less than line rate.
  [[nodiscard]] PricedCost time_of(const PricedRound& round, Bytes block, Seconds wire) const;
  bool follow(const PricedRounds& all, const PricedRound& round) const;
  [[nodiscard]] std::vector<bool> followed(PricedRounds& all, Bytes bytes) const;

  Cluster cluster_;  ///< with the links that the protocol gives
  Prices paths_;
  Prices best_;  ///< prices with the best link on every path
  bool is_exact_, knows_routes_;
  Cache& cache_;
};

/// Results about the rounds of one cluster with one protocol.
struct ProtocolPrices::Cache {
  std::optional<Fabric> fabric;
  std::map<Fingerprint, std::shared_ptr<RoundFlows>> known;
  std::map<CallKey, bool> routed;
  std::map<CallKey, PricedRounds> rounds;
  std::map<std::pair<CallKey, std::int64_t>, PricedRound> stages;  ///< rounds of pipelines, by Schedule::stages
  /// Limits the memory of a study whose points all have different buffers.
  static constexpr std::size_t kMostPrices = 1 << 16;
  std::map<std::pair<CallKey, Bytes>, Priced> prices;
};

}  // namespace stepcast
