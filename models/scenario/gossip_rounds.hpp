// The exchanges of the gossip strategy from step to step.
#pragma once

#include <cstdint>
#include <numeric>

#include "models/collective/neighbours.hpp"
#include "models/part/strategy.hpp"

namespace stepcast {

/// The neighbours of the strategy's first exchange.
inline Neighbours neighbours_of(const GossipStrategy& x) {
  return {x.graph, x.dimensions, x.edges, 0, x.workers_of_replica()};
}

/// The steps of a strategy after which its exchanges repeat: H steps for each of the graph's unlike ones, and those from
/// one average of all to the next.
inline std::int64_t period_of(const GossipStrategy& x, int p) {
  const auto exchanges = std::int64_t{x.steps} * unlike_steps(neighbours_of(x), p);
  return x.average ? std::lcm(exchanges, std::int64_t{x.average->steps}) : exchanges;
}

}  // namespace stepcast
