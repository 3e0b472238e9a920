// The time of a collective's round on a cluster's links, with the same sharing as the replay.
#pragma once

#include <compare>
#include <cstddef>
#include <vector>

#include "models/collective/schedule.hpp"
#include "models/fabric/fabric.hpp"
#include "models/fabric/flow_system.hpp"
#include "models/fabric/fullest_link.hpp"

namespace stepcast {

/// The messages of a round as flows. Each flow starts after the latency of its route. All running flows share the links
/// by max-min fairness. The round ends with its last flow.
///
/// In a round that goes around rings, each message has its ring's mean latency (ring_latencies.hpp).
///
/// Two bounds are quick to compute. For a link l, n_l is its number of flows, b_l their bytes, B_l its bandwidth:
///
///     least   max(α, max over l of (shortest latency on l + b_l / B_l))     the bytes of l must pass it
///     most    max over flows f of (latency of f + bytes of f · max over its l of n_l / B_l)
///
/// A message whose connections limit it counts as a link of its own (fullest_link.hpp).
///
/// α is the longest latency. `most` holds since a max-min fair flow is never slower than the fair share of its fullest
/// link. It is taken for the shortest latency first. Flows of that latency have ended by then, so from then on n_l
/// counts only flows of longer latencies. Both bounds are equal, a closed form, if all messages have one size and those
/// on the fullest link have the longest latency. Other rounds are followed from one start or end of a flow to the
/// next. This is done on the quotient (flow_system.hpp), where one flow stands for all equal ones. This is not a closed
/// form, but just as exact.
class RoundFlows {
 public:
  /// Limit on the flows of a followed quotient. The time to follow it grows with their square.
  static constexpr std::size_t kMostFollowed = 1024;

  /// Computes the bounds. Time and memory grow with the total number of hops.
  /// @param round        not empty, and no message goes to its own sender
  /// @param goes_around  the round's value of Schedule::goes_around
  RoundFlows(const Round& round, Fabric& fabric, bool goes_around = false, Delays delays = Delays::before);

  /// Finds the quotient if there is no closed form. This takes about a microsecond for each message.
  /// @param round  the same round, on the same fabric
  /// @return whether the round's time is exact; false if the quotient has more flows than kMostFollowed
  bool follow(const Round& round, Fabric& fabric);

  struct Duration {
    Seconds latency{};    ///< the longest latency of its messages
    Seconds bandwidth{};  ///< on the wire: the rest of the round, or all of it if delays are beside
    [[nodiscard]] Seconds total() const { return latency + bandwidth; }
  };

  /// The time of the round with blocks of that size. If it is not exact, it is the middle of both bounds.
  [[nodiscard]] Duration duration(Bytes block) const;
  /// Whether duration() is the exact time under fair sharing.
  [[nodiscard]] bool is_exact() const { return fullest_.is_closed || is_followed_; }
  /// Whether both bounds are the same.
  [[nodiscard]] bool is_closed() const { return fullest_.is_closed; }
  [[nodiscard]] const FullestLink& fullest() const { return fullest_; }
  /// The lower bound and the upper bound for any sharing of the links.
  [[nodiscard]] Seconds least(Bytes block) const;
  [[nodiscard]] Seconds most(Bytes block) const;

  /// The same bounds without the latency before the flows.
  [[nodiscard]] Seconds least_wire(Bytes block) const { return least(block) - Seconds(fullest_.start); }
  [[nodiscard]] Seconds most_wire(Bytes block) const { return most(block) - Seconds(fullest_.start); }

  /// The longest latency of its messages.
  [[nodiscard]] Seconds latency() const { return Seconds(fullest_.latency); }
  [[nodiscard]] std::size_t messages() const { return messages_; }

 private:
  [[nodiscard]] double followed(double block) const;

  FullestLink fullest_;
  Quotient quotient_;           ///< flows in order of latency
  std::vector<double> blocks_;  ///< blocks of its flows
  std::size_t messages_ = 0;
  /// A flow at its fair share of its fullest link.
  struct FairFlow {
    /// [k]: seconds per byte of a block while only flows of the k-th shortest latency or longer run; up to its own.
    std::vector<double> slowness;
    double latency = 0.0;
    auto operator<=>(const FairFlow&) const = default;
  };
  [[nodiscard]] static std::vector<FairFlow> fair_flows(const Round& round, Fabric& fabric,
                                                        std::vector<double> latencies);
  std::vector<FairFlow> fair_;  ///< each kind of flow once, short latencies first; empty if there is a closed form
  bool is_followed_ = false;    ///< whether the quotient is known
  bool is_too_large_ = false;   ///< whether the quotient has too many flows
};

/// The flows of a round, followed if there is no closed form.
RoundFlows followed_flows(const Round& round, Fabric& fabric, bool goes_around = false);

}  // namespace stepcast
