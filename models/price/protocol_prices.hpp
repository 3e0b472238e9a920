// What collectives take that go by one protocol.
#pragma once

#include <cstddef>
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

/// Messages in a collective's unlike rounds that are routed, at most; they take some ten seconds.
inline constexpr double kMostRouted = 1 << 26;

/// Whether collectives are priced by the routes of their messages, round by round, instead of collective_prices:
/// wherever that one is an estimate for the shape of the cluster. A platform file's routes are SimGrid's alone.
bool routes_are_known(const Cluster& cluster);

/// Prices of collectives by one protocol, among all workers of a cluster or in communicators of theirs.
///
/// By the closed forms and collective_prices, or where routes are known, round by round (fabric/round_flows.hpp),
/// contention on every link included, up to kMostRouted messages. What the hosts copy and add is the closed form's in both.
///
/// The latter are the replay's on ideal transport, whatever algorithm and topology: exactly where their
/// unlike rounds have up to kAlwaysFollowed messages, or closed forms. Of others as many rounds are followed, those of
/// the widest bounds first, as it takes to be within kWithin of the whole. How far off a price may be is its `slack`.
///
/// Keeps what it found out about rounds; not for several threads. A price does not depend on what was asked before.
class ProtocolPrices {
 public:
  static constexpr double kAlwaysFollowed = 1 << 18;
  static constexpr double kWithin = 4e-3;
  static constexpr double kMostFolded = 1 << 22;  ///< messages of the rounds of a call that are followed

  ProtocolPrices(const Cluster& cluster, const Protocol& protocol);
  ProtocolPrices(const ProtocolPrices&) = delete;  // fabric_ may know where cluster_ is
  ProtocolPrices& operator=(const ProtocolPrices&) = delete;

  [[nodiscard]] PricedCost operator()(const CollectiveCall& call) const { return priced(call).cost; }

  /// How much more or less than the price the replay may take; infinity where nothing is known.
  [[nodiscard]] Seconds slack(const CollectiveCall& call) const { return priced(call).slack; }

  /// Decides "auto": the algorithm and its parameters of the lowest price. The call's protocol is left open.
  [[nodiscard]] CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among) const;

 private:
  struct Priced {
    PricedCost cost;
    Seconds slack{};
  };
  struct PricedRound {
    std::shared_ptr<RoundFlows> flows;
    int blocks = 1;  ///< of the collective, in one of the flows'
    int times = 1;   ///< rounds that are alike
    int number = 0;  ///< of the first of them
  };
  struct PricedRounds {
    Schedule schedule;
    std::vector<LikeRounds> unlike;
    std::vector<PricedRound> rounds;  ///< beside the first of them: those that were needed

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
  [[nodiscard]] PricedRound priced(Round round, bool goes_around) const;
  bool follow(const PricedRounds& all, const PricedRound& round) const;
  [[nodiscard]] std::vector<bool> followed(PricedRounds& all, Bytes bytes) const;

  Cluster cluster_;  ///< whose links are as the protocol finds them
  Prices paths_;
  Prices best_;  ///< with the best link on every path
  mutable std::optional<Fabric> fabric_;
  mutable std::map<Fingerprint, std::shared_ptr<RoundFlows>> known_;
  mutable std::map<CallKey, bool> routed_;
  mutable std::map<CallKey, PricedRounds> rounds_;
  /// Bounds what a study leaves whose points all have other buffers.
  static constexpr std::size_t kMostPrices = 1 << 16;
  mutable std::map<std::pair<CallKey, Bytes>, Priced> prices_;
};

}  // namespace stepcast
