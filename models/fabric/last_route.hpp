// Routes of a round's messages.
#pragma once

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
  /// The latency of the route last asked for, in seconds.
  [[nodiscard]] double latency() const { return latency_; }
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

}  // namespace stepcast
