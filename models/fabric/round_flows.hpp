// A round of a collective on a cluster's links: how long its messages take, by the sharing that the replay assumes.
#pragma once

#include <vector>

#include "models/collective/schedule.hpp"
#include "models/fabric/fabric.hpp"
#include "models/fabric/flow_system.hpp"

namespace stepcast {

/// The messages of a round as flows. Each starts after the latency of its route; all that run share the links by
/// max-min fairness; the round ends with the last of them.
///
/// Of a round that goes around rings, the latency is the mean over a message's ring (ring_latencies.hpp).
/// Where all messages are equally large and the most loaded link has only such of the longest latency, the round lasts
///
///     α + max over links of (bytes on it / its bandwidth):
///
/// a max-min fair flow is never slower than the fair share of the most loaded link, and there none is faster. Of other
/// rounds of up to kMostFolded messages the quotient (flow_system.hpp), in which one flow stands for all that are alike,
/// is followed from one start or end of a flow to the next, if it has kMostFollowed flows or less, which is no closed
/// form but as exact. Larger ones get the same formula: of equally large messages no less than they take, and no more than the latencies of two routes may
/// differ too much.
class RoundFlows {
 public:
  static constexpr int kMostFolded = 4096, kMostFollowed = 512;

  /// @param round        not empty, no message to its own sender
  /// @param goes_around  as Schedule says of it
  RoundFlows(const Round& round, const Fabric& fabric, bool goes_around = false);

  struct Duration {
    Seconds latency{};    ///< the longest of its messages
    Seconds bandwidth{};  ///< the rest of the round
  };

  /// How long the round takes, with blocks of that size.
  [[nodiscard]] Duration duration(Bytes block) const;
  /// Whether fair sharing takes just as long.
  [[nodiscard]] bool is_exact() const { return is_exact_; }
  /// Whether it takes what the formula above says.
  [[nodiscard]] bool formula_is_exact() const { return is_exact_ && is_closed_; }
  /// What no sharing of the links undercuts, at once.
  [[nodiscard]] Seconds least(Bytes block) const;

 private:
  bool fold(const Round& round, const std::vector<double>& latencies, const Fabric& fabric);

  class Sharing;
  [[nodiscard]] double followed(double block) const;

  Quotient quotient_;           ///< flows in order of latency
  std::vector<double> blocks_;  ///< of its flows
  double latency_ = 0.0;        ///< the longest
  double first_ = 0.0;          ///< the shortest on the most loaded link
  double load_ = 0.0;           ///< seconds per byte of a block on the most loaded link
  bool is_closed_ = false;      ///< whether the formula above is taken
  bool is_exact_ = true;        ///< and holds, where it is
};

}  // namespace stepcast
