// Folding reduces a cluster to the parts that a replay needs when it simulates like parts only once.
//
// Messages that share links are a flow system. The replay simulates its quotient (flow_system.hpp).
//
//   collectives  A round is a barrier and nothing else is on the links meanwhile. Each round is therefore a
//                separate flow system; rounds that are alike (Schedule::like) are one. Where the messages on one link
//                decide the round's time, one flow stands for them (fullest_link.hpp).
//   direct       Pushes, pulls and neighbour exchanges start when their senders are ready. Senders and receivers
//                are therefore part of the partition. Workers of one class have the same timeline, by induction
//                over events, and one of them acts for all. Asynchronous workers all differ: like ones are served
//                one after another. Their shards may be alike, and then find the same queue at every time.
//
// The result equals a full replay's up to SimGrid's resolution: it treats events within a nanosecond as one.
//
// Memory: at most about 300 bytes for each message of the round or direct exchange that is being folded, including the
// links of the fabric. The result is proportional to the number of classes. Messages between interchangeable workers and
// a shard (Fabric::branch) count as one.
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
  int times = 1;          ///< number of rounds that are alike
  bool has_last = false;  ///< whether the collective's last round is one of them
};

using FoldedCollective = std::vector<FoldedRound>;

/// Workers or shards with the same timeline.
struct ParticipantClass {
  Role role = Role::worker;
  int index = 0;  ///< rank or number of the first one
  int count = 1;
  /// For a class of workers: the number of its members of each kind (worker_kinds(cluster)). A class may contain
  /// several kinds.
  std::vector<int> of_kind{};
};

/// A sending class and a receiving class in direct exchanges.
struct DirectFlow {
  std::optional<ShardExchange> exchange;  ///< none for neighbours
  int sender = 0, receiver = 0;           ///< participant classes
  int number = 0;                         ///< of the shard in a push or pull, or of the neighbours' step
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

/// The reason why the replay cannot be folded exactly; none if it can. It lies in the scenario (scenario/foldable.hpp),
/// or in a step graph whose collectives may share links with other communication.
std::optional<std::string> folding_refusal(const Scenario& scenario, const StepGraph& graph);

/// The result of the scenario's choice.
struct FidelityDecision {
  bool folds = false;
  std::string why_full;        ///< if folding is refused, or gains nothing
  std::optional<Fold> fold{};  ///< if one was made to decide
};

/// "auto" folds if that is exact and leaves at most two thirds of the direct messages. SimGrid takes up to twice as
/// long for a folded message. The remaining messages are not counted if a push has fewer than 64 messages or more than
/// 2^18. Those of asynchronous servers are not counted either: a folded one is quick (fair_flows.hpp).
/// @throws ModelError when the scenario demands folding and it cannot be exact
FidelityDecision decide_fidelity(const Scenario& scenario, const StepGraph& graph);

/// Messages of one push to the graph's shards, of one pull, or of the graph's exchanges with neighbours. All are counted,
/// as in a full replay.
double direct_messages(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
