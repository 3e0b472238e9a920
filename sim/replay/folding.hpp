// Folding reduces a cluster to the parts that a replay needs, if all like parts are simulated once.
//
// Messages that share links are a flow system. The replay simulates its quotient (flow_system.hpp).
//
//   collectives  A round is a barrier and nothing else is on the links meanwhile. Each round is therefore a
//                separate flow system; rounds that are alike (Schedule::like) are one.
//   direct       Pushes, pulls and neighbour exchanges start when their senders are ready. Senders and receivers
//                are therefore part of the partition. Workers of one class have the same timeline, by induction
//                over events, and one of them acts for all.
//
// The result equals a full replay's up to SimGrid's resolution: it treats events within a nanosecond as one.
//
// Memory: about 300 bytes for each message of the round or direct exchange that is being folded, including the links
// of the fabric. The result is proportional to the number of classes. Messages between interchangeable workers and a
// shard (Fabric::branch) count as one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/fabric/flow_system.hpp"
#include "models/part/cluster.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

struct FoldedRound {
  struct Flows {
    Quotient system;
    std::vector<double> blocks;  ///< by flow: its size
  };
  std::shared_ptr<const Flows> flows;  ///< shared by rounds with the same messages
  RoundLoad load;
  int times = 1;  ///< number of rounds that are alike
};

using FoldedCollective = std::vector<FoldedRound>;

/// Workers or shards with the same timeline.
struct ParticipantClass {
  Role role = Role::worker;
  int index = 0;  ///< rank or number of the first one
  int count = 1;
  /// For a class of workers: its members of each of worker_kinds(cluster), since a class may cross kinds.
  std::vector<int> of_kind{};
};

/// A sending class and a receiving class in direct exchanges.
struct DirectFlow {
  std::optional<ShardExchange> exchange;  ///< none for neighbours
  int sender = 0, receiver = 0;           ///< participant classes
  int shard = 0;                          ///< the shard's number in a push or pull
};

struct Fold {
  std::vector<ParticipantClass> participants;  ///< workers, then shards
  Quotient direct;
  std::vector<DirectFlow> direct_flows;  ///< beside direct.flows

  [[nodiscard]] const FoldedCollective& collective(const CollectiveCall& call) const {
    return collectives.at(key_of(call));
  }

  std::map<CallKey, FoldedCollective> collectives;
};

/// @pre the cluster and the graph can be folded (fidelity.hpp)
Fold fold(const Cluster& cluster, const StepGraph& graph);

}  // namespace stepcast
