// Routes of a round's messages, and their latencies.
#pragma once

#include <vector>

#include "models/collective/schedule.hpp"
#include "models/fabric/fabric.hpp"

namespace stepcast {

/// Routes of messages. Messages one after the other often have the same ends, and then the same route.
class LastRoute {
 public:
  explicit LastRoute(Fabric& fabric) : fabric_(fabric) {}

  const Fabric::Route& of(const Message& message) {
    if (message.from == from_ && message.to == to_) return hops_;
    from_ = message.from;
    to_ = message.to;
    hops_.clear();
    fabric_.append_route(from_, to_, hops_);
    latency_ = fabric_.latency(hops_).si();
    return hops_;
  }
  /// In seconds.
  [[nodiscard]] double latency_of(const Message& message) {
    of(message);
    return latency_;
  }

 private:
  Fabric& fabric_;
  int from_ = -1, to_ = -1;
  Fabric::Route hops_;
  double latency_ = 0.0;
};

/// The latencies of the messages' routes, in order, in seconds.
inline std::vector<double> route_latencies(const Round& round, Fabric& fabric) {
  std::vector<double> latencies;
  latencies.reserve(round.size());
  LastRoute last(fabric);
  for (const Message& message : round) latencies.push_back(last.latency_of(message));
  return latencies;
}

}  // namespace stepcast
