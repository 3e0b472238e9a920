#include "sim/replay/direct_exchanges.hpp"

#include <algorithm>

#include "models/collective/direct.hpp"
#include "sim/replay/actor.hpp"
#include "sim/replay/shard_hosts.hpp"

namespace stepcast {

DirectExchanges::DirectExchanges(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph)
    : simulated_(simulated), cluster_(cluster), graph_(graph), inboxes_(graph.tasks.size()) {
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const Work& work = graph.tasks[t].work;
    if (std::holds_alternative<ShardWork>(work) || std::holds_alternative<NeighbourWork>(work))
      inboxes_[t].resize(simulated.inboxes());
  }
}

double DirectExchanges::execute(const ShardWork& work, Track& track, TaskId task) {
  const Participant& self = *track.participant;
  const bool is_worker = self.role == Role::worker, is_push = work.exchange == ShardExchange::push;
  // A worker copies bytes to and from other hosts; a shard's host waits for those who copy most.
  const Bytes copied = is_worker
                           ? to_other_hosts(work.shard_bytes, self.index, cluster_, graph_)
                           : shard_exchange_cost(work.shard_bytes, cluster_.workers, graph_.shards_co_located).copied;
  const double copying = (copied * cluster_.host_cost).si();
  const double start = now();
  // A push begins with copying out and a pull ends with copying in. The shard's buffer is in use until then.
  if (is_push && is_worker) sleep(copying);
  const double sent = exchange(simulated_.exchange(work, self.number), track, task);
  if (!is_push) sleep(copying);
  return std::max(start, sent);
}

double DirectExchanges::execute(const NeighbourWork& work, Track& track, TaskId task) {
  const double start = now();
  const double sent = exchange(simulated_.exchange(work, track.participant->number), track, task);
  const CostTerms terms = neighbour_exchange_cost(work.bytes, cluster_.workers);
  sleep((terms.copied * cluster_.host_cost + terms.reduced * cluster_.reduction_cost).si());
  return std::max(start, sent);
}

/// Sends and receives a participant's messages.
/// @returns when the last sender sent
double DirectExchanges::exchange(const SimulatedExchange& messages, Track& track, TaskId task) {
  std::vector<Inbox>& inboxes = inboxes_[task];
  std::vector<Posted> outgoing;
  for (const auto& [message, inbox] : messages.outgoing) outgoing.push_back({message, &inboxes[inbox]});
  const auto comms = start_messages(outgoing, 1.0);
  double sent = 0.0;
  for (const int inbox : messages.expected) sent = std::max(sent, receive(inboxes[inbox], track));
  for (const auto& comm : comms) comm->wait();
  return sent;
}

}  // namespace stepcast
