// Folding: what a replay needs of a cluster when everything that is alike is simulated once.
//
// Messages that share links are a flow system, of which the quotient (flow_system.hpp) is simulated.
//
//   collectives  A round is a barrier and nothing else is on the links meanwhile, so each round is a flow
//                system of its own; rounds that are alike (Schedule::like) are one.
//   direct       Pushes, pulls and neighbour exchanges start when their senders are ready, so senders and
//                receivers are part of the partition: workers of one class have the same timeline, by induction
//                over events, and one of them acts for all.
//
// Equal to full replay up to SimGrid's resolution: it takes events less than a nanosecond apart for one.
//
// Memory: about 300 bytes for each message of the round (or direct exchange) being folded, the links of the fabric
// included; what is kept is proportional to the number of classes. Messages of interchangeable workers to and from a
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
  int times = 1;  ///< rounds that are alike
};

using FoldedCollective = std::vector<FoldedRound>;

/// Workers or shards with the same timeline.
struct ParticipantClass {
  Role role = Role::worker;
  int index = 0;  ///< rank or number of the first one
  int count = 1;
  std::vector<int> of_kind{};  ///< of workers: how many are of each of worker_kinds(cluster), which a class may cross
};

/// Who of one class sends to whom of another in direct exchanges.
struct DirectFlow {
  std::optional<ShardExchange> exchange;  ///< none: of neighbours
  int sender = 0, receiver = 0;           ///< participant classes
  int shard = 0;                          ///< its number, of a push or pull
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
