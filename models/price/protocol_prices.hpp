// What collectives take that go by one protocol.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/fabric/round_flows.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Whether a collective is priced by the routes of its messages, round by round, instead of collective_prices: wherever
/// that one is an estimate for the shape of the cluster, up to 4096 workers, and 512 for all-to-all, whose p - 1 rounds
/// are all unlike; of nccl-tree, with 4p messages in a round for each pair of trees, up to 32,768 workers times pairs. A
/// platform file's routes are SimGrid's alone.
bool routes_are_priced(const Cluster& cluster, const CollectiveCall& call);

/// Prices of collectives by one protocol, among all workers of a cluster or in communicators of theirs.
///
/// By the closed forms and collective_prices, or where routes are priced, round by round (fabric/round_flows.hpp),
/// contention on every link included. The latter equals the replay on ideal transport, whatever algorithm and topology,
/// in rounds of up to RoundFlows::kMostFolded messages; one of more may be as much too long as its routes' latencies
/// differ. What the hosts copy and add is the closed form's in both.
///
/// Keeps what it found out about rounds; not for several threads.
class ProtocolPrices {
 public:
  ProtocolPrices(const Cluster& cluster, const Protocol& protocol);
  ProtocolPrices(const ProtocolPrices&) = delete;  // fabric_ may know where cluster_ is
  ProtocolPrices& operator=(const ProtocolPrices&) = delete;

  [[nodiscard]] PricedCost operator()(const CollectiveCall& call) const;

  /// Whether that price is the replay's, to rounding.
  /// @pre routes_are_priced(cluster, call)
  [[nodiscard]] bool is_exact(const CollectiveCall& call) const;

  /// Decides "auto": the algorithm of the lowest price, its segments by the closed form. The call's protocol is left
  /// open.
  [[nodiscard]] CollectiveCall decide(Operation operation, const CollectiveChoice& choice, Bytes bytes,
                                      const Communicators& among) const;

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
  [[nodiscard]] PricedRound priced(const Round& round, bool goes_around) const;

  Cluster cluster_;  ///< whose links are as the protocol finds them
  Prices paths_;
  mutable std::optional<Fabric> fabric_;
  /// By whether it goes around, and {from, to, blocks} of its messages.
  mutable std::map<std::pair<bool, std::vector<std::array<int, 3>>>, std::shared_ptr<const RoundFlows>> known_;
  mutable std::map<CallKey, PricedRounds> rounds_;
  /// Bounds what a study leaves whose points all have other buffers.
  static constexpr std::size_t kMostPrices = 1 << 16;
  mutable std::map<std::pair<CallKey, Bytes>, PricedCost> prices_;
};

}  // namespace stepcast
