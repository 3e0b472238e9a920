// The link of a round that its messages fill the longest.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "models/collective/schedule.hpp"
#include "models/fabric/fabric.hpp"
#include "models/fabric/flow_system.hpp"

namespace stepcast {

/// When the latencies of a round's messages pass.
enum class Delays {
  before,  ///< each before its own flow: one after the other
  beside,  ///< beside the flows, which all start together: slices overlap them (price/round_pace.hpp)
};

/// The fullest link of a round: of all links l with b_l blocks and bandwidth B_l, the one with the largest b_l / B_l.
/// Among equals, it is the one whose shortest latency is the longest. A message whose connections limit it
/// (part/connections.hpp) counts as a link of its own, with that bandwidth. Times are in seconds.
struct FullestLink {
  double latency = 0.0;  ///< the longest latency of the round's messages
  double start = 0.0;    ///< the longest latency before a flow
  double first = 0.0;    ///< the shortest latency before a flow on the link
  double blocks = 0.0;   ///< blocks on the link
  double load = 0.0;     ///< seconds per byte of a block on the link
  int link = -1;         ///< its number, or -1
  /// The message whose own connections are the fullest link, if no other is.
  std::optional<std::size_t> message;
  /// Whether the round takes just as long as its flows on the link. It does if all messages have one size, and those on
  /// the link have the longest latency. Each of them has its share of this link, and meets no more on its others.
  bool is_closed = false;
  /// By message: the latency before its flow. It is empty if these are the routes' latencies.
  std::vector<double> latencies;
};

/// Time and memory grow with the total number of hops.
/// @param round        not empty, and no message goes to its own sender
/// @param goes_around  the round's value of Schedule::goes_around
FullestLink fullest_link(const Round& round, Fabric& fabric, bool goes_around = false, Delays delays = Delays::before);

/// One flow that stands for all on the fullest link, with the share of the link that each of them has.
/// @param round  the round whose fullest link it is
/// @pre fullest.is_closed
Quotient one_for_all(const FullestLink& fullest, const Round& round, const Fabric& fabric);

}  // namespace stepcast
