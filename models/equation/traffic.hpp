// What the exchanges of a training step move, as bounds on its time need it.
#pragma once

#include <map>
#include <utility>
#include <variant>

#include "models/collective/collective.hpp"
#include "models/part/strategy.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Collectives that follow each other, since each needs the result of the one before: the buffers of one communicator.
struct CollectiveTraffic {
  std::map<std::pair<Operation, Communicators>, Bytes> buffers;
};

/// What each worker sends to both its neighbours on a ring.
struct NeighbourTraffic {
  Bytes sent{};
};

/// What each worker pushes to all shards of servers, and pulls from them.
struct ServerTraffic {
  Bytes push{}, pull{};
  int shards = 1;
  bool equal_shards = true;
  bool co_located = false;
  /// Whether fast workers do more steps than slow ones. With staleness bounded all do equally many in the long run:
  /// whatever each worker, host and way must bear for one step of every worker bounds them as it does synchronous ones.
  bool asynchronous = false;
};

using Traffic = std::variant<CollectiveTraffic, NeighbourTraffic, ServerTraffic>;

Traffic traffic_of(const Strategy& strategy, const StepGraph& graph);

}  // namespace stepcast
