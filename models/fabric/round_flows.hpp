// A round of a collective on a cluster's links: how long its messages take, by the sharing that the replay assumes.
#pragma once

#include <compare>
#include <vector>

#include "models/collective/schedule.hpp"
#include "models/fabric/fabric.hpp"
#include "models/fabric/flow_system.hpp"

namespace stepcast {

/// The messages of a round as flows. Each starts after the latency of its route; all that run share the links by
/// max-min fairness; the round ends with the last of them.
///
/// A round that goes around rings has the mean latency over a message's ring (ring_latencies.hpp).
///
/// What can be said at once are two bounds. With l a link, n_l the flows on it, b_l their bytes, B_l its bandwidth:
///
///     least   max(α, max over l of (shortest latency on l + b_l / B_l))     what l carries must pass it
///     most    max over flows f of (latency of f + bytes of f · max over its l of n_l / B_l)
///
/// α is the longest latency. A max-min fair flow is never slower than the fair share of its fullest link, whence `most`.
/// It is applied to one latency after the other, the shortest first: by the time that it gives, those flows have ended.
/// From then on n_l counts the flows of longer latencies alone.
/// Where all messages are equally large and the most loaded link has only such of the longest latency, both are the
/// same: a closed form. Other rounds are followed: of the quotient (flow_system.hpp), in which one flow stands for all
/// that are alike, from one start or end of a flow to the next. That is no closed form but as exact.
class RoundFlows {
 public:
  /// Flows of a quotient that is followed, in time that grows with their square.
  static constexpr std::size_t kMostFollowed = 1024;

  /// The bounds, in time and memory of its messages' hops.
  /// @param round        not empty, no message to its own sender
  /// @param goes_around  as Schedule says of it
  RoundFlows(const Round& round, const Fabric& fabric, bool goes_around = false);

  /// Finds the quotient, where there is no closed form; takes about a microsecond for each message.
  /// @param round  the same, of the same fabric
  /// @return whether the round's time is exact: not where the quotient has more flows than kMostFollowed
  bool follow(const Round& round, const Fabric& fabric);

  struct Duration {
    Seconds latency{};    ///< the longest of its messages
    Seconds bandwidth{};  ///< the rest of the round
    [[nodiscard]] Seconds total() const { return latency + bandwidth; }
  };

  /// How long the round takes, with blocks of that size; where that is not exact, the middle of both bounds.
  [[nodiscard]] Duration duration(Bytes block) const;
  /// Whether fair sharing takes just as long.
  [[nodiscard]] bool is_exact() const { return is_closed_ || is_followed_; }
  /// Whether both bounds are the same.
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// What no sharing of the links undercuts, and what none exceeds.
  [[nodiscard]] Seconds least(Bytes block) const;
  [[nodiscard]] Seconds most(Bytes block) const;

  /// The longest of its messages.
  [[nodiscard]] Seconds latency() const { return Seconds(latency_); }
  [[nodiscard]] std::size_t messages() const { return messages_; }

 private:
  class Sharing;
  [[nodiscard]] double followed(double block) const;

  Quotient quotient_;               ///< flows in order of latency
  std::vector<double> blocks_;      ///< of its flows
  std::vector<double> latencies_;   ///< of messages, where not their routes' own
  std::size_t messages_ = 0;
  double latency_ = 0.0;      ///< the longest
  double first_ = 0.0;        ///< the shortest on the most loaded link
  double load_ = 0.0;         ///< seconds per byte of a block on the most loaded link
  /// What a flow has at least: seconds per byte of a block, while flows of latency k or longer run, for k = 0, 1...
  /// up to its own latency's number.
  struct FairFlow {
    std::vector<double> slowness;
    double latency = 0.0;
    auto operator<=>(const FairFlow&) const = default;
  };
  [[nodiscard]] static std::vector<FairFlow> fair_flows(const Round& round, const Fabric& fabric,
                                                        const std::vector<double>& latencies);
  std::vector<FairFlow> fair_;  ///< each kind of flow once, short latencies first; empty where there is a closed form
  bool is_closed_ = false;    ///< whether both bounds are the same
  bool is_followed_ = false;  ///< whether there is a quotient
  bool is_too_large_ = false; ///< whether that has too many flows
};

/// A round's time, followed where it has no closed form.
RoundFlows followed_flows(const Round& round, const Fabric& fabric, bool goes_around = false);

}  // namespace stepcast
