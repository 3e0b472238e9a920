// The traffic of a training step's exchanges, as bounds on its time need it.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/part/strategy.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Collectives in sequence, since each needs the result of the previous one. Bytes are the buffers of one communicator.
struct CollectiveTraffic {
  std::map<std::pair<Operation, Communicators>, Bytes> buffers;
};

/// Exchanges with neighbours, one after the other. Their bytes are shares of one step.
struct NeighbourTraffic {
  std::vector<NeighbourWork> exchanges;
};

/// Bytes that each worker pushes to all shards, and pulls from them.
struct ServerTraffic {
  Bytes push{}, pull{};
  int shards = 1;
  bool equal_shards = true;
  bool co_located = false;
  std::optional<int> first_pushes;  ///< with backup workers: the pushes that a step needs
  /// Whether fast workers do more steps than slow ones, as beside backup workers. With bounded staleness, all workers do
  /// equally many in the long run. The load of one step of every worker then bounds each worker, host and way, as with
  /// synchronous servers.
  bool asynchronous = false;
};

using Traffic = std::variant<CollectiveTraffic, NeighbourTraffic, ServerTraffic>;

/// The traffic of streams that may not wait for each other: averages in flight, messages of islands, exchanges with
/// neighbours.
std::vector<Traffic> traffic_of(const Strategy& strategy, const StepGraph& graph);

}  // namespace stepcast
