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
#include <string>
#include <utility>
#include <vector>

#include "models/fabric/flow_system.hpp"
#include "models/part/cluster.hpp"
#include "models/scenario/scenario.hpp"
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

/// @pre the cluster and the graph can be folded (folding_refusal)
Fold fold(const Cluster& cluster, const StepGraph& graph);

/// Why the replay cannot be folded exactly: for the scenario's sake (scenario/foldable.hpp) or the step graph's,
/// where a collective may share links with other communication.
std::optional<std::string> folding_refusal(const Scenario& scenario, const StepGraph& graph);

/// What the scenario's choice comes to.
struct FidelityDecision {
  bool folds = false;
  std::string why_full;        ///< where folding was refused, or gains nothing
  std::optional<Fold> fold{};  ///< where it was made to decide
};

/// "auto" folds wherever it is exact and leaves at most two thirds of the direct messages: a folded one takes SimGrid
/// up to twice as long. Of fewer than 64 messages of one push, or more than 2^18, it is not counted how many are left.
/// @throws ModelError when the scenario demands folding and it cannot be exact
FidelityDecision decide_fidelity(const Scenario& scenario, const StepGraph& graph);

/// Messages of one push to the graph's shards (or one pull), or of one exchange with neighbours, when all are
/// simulated.
double direct_messages(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
