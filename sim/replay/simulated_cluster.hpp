// A simulated cluster of a replay: its participants and messages, and the SimGrid hosts they use.
//
// Full: every worker and shard takes part, and every message is a flow. Folded: one of each class takes part
// (folding.hpp), on a platform with one link for each class of links.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/folding.hpp"

namespace stepcast {

/// A message that is a separate flow, unless both ends are one host.
struct SimulatedMessage {
  simgrid::s4u::Host* from = nullptr;
  simgrid::s4u::Host* to = nullptr;
  double delay = 0.0;   ///< latency, spent before the flow starts
  double amount = 0.0;  ///< bytes; blocks in a round of a collective
};

struct SimulatedRound {
  std::vector<SimulatedMessage> messages;
  RoundLoad load;
  bool is_last = false;  ///< whether the collective's last round is this one, or one like it
};

/// The messages that one participant sends and waits for in a direct exchange.
struct SimulatedExchange {
  struct Outgoing {
    SimulatedMessage message;
    int inbox = 0;
  };
  std::vector<Outgoing> outgoing;
  std::vector<int> expected;  ///< an inbox for each message
};

class LinkMeter;
struct Track;

class SimulatedCluster {
 public:
  struct Participant : ParticipantClass {
    simgrid::s4u::Host* host = nullptr;
  };

  virtual ~SimulatedCluster() = default;

  [[nodiscard]] const std::vector<Participant>& participants() const {
    return participants_;
  }  ///< workers, then shards
  [[nodiscard]] virtual bool is_folded() const = 0;
  /// Work units per second of a worker of speed 1.
  [[nodiscard]] virtual double work_per_second() const = 0;

  /// Calls f(round, times) for the rounds of a collective: for each in order, or for one of each group of like rounds.
  using RoundVisitor = std::function<void(const SimulatedRound&, int times)>;
  /// @param communicator  shows its messages alone, if given; never with folding
  virtual void for_each_round(const CollectiveCall& call, const RoundVisitor& f,
                              std::optional<int> communicator = {}) = 0;

  [[nodiscard]] virtual int inboxes(const Work& direct) const = 0;  ///< inboxes of a task with direct messages
  virtual SimulatedExchange exchange(const ShardWork& work, std::size_t participant) = 0;
  virtual SimulatedExchange exchange(const NeighbourWork& work, std::size_t participant) = 0;
  /// Sends a message of asynchronous servers, and returns when it has arrived. The first of like shards stands for all
  /// of them.
  virtual void carry(const ShardTransfer& transfer, Track& track) = 0;

  /// A message of asynchronous pairs. They are never folded.
  virtual SimulatedMessage between(int from, int to, Bytes bytes) = 0;

  /// Whether a worker does this task in the simulation. It leaves out those with asynchronous shards that another one
  /// stands for.
  [[nodiscard]] virtual bool includes(const Task&) const { return true; }

  /// The extent of the simulation for the report: "2 participants for 65536, ..."; empty if it covers all.
  [[nodiscard]] virtual std::string summary() const = 0;

  LinkMeter* meter = nullptr;  ///< to be told of every message; null if nobody asks

 protected:
  std::vector<Participant> participants_;
};

std::unique_ptr<SimulatedCluster> make_full_cluster(simgrid::s4u::Engine& engine, const Cluster& cluster,
                                                    const StepGraph& graph);
std::unique_ptr<SimulatedCluster> make_folded_cluster(simgrid::s4u::Engine& engine, const Cluster& cluster,
                                                      const StepGraph& graph, Fold fold);

}  // namespace stepcast
