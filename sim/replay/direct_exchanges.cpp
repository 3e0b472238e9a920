#include "sim/replay/direct_exchanges.hpp"

#include <algorithm>
#include <cstddef>

#include "models/collective/neighbours.hpp"
#include "models/part/host_costs.hpp"
#include "models/price/shard_copies.hpp"
#include "sim/replay/messages.hpp"
#include "sim/replay/participants.hpp"

namespace stepcast {
namespace {

std::vector<DirectExchanges::NeighbourLoad> loads_of(const NeighbourWork& work, const Cluster& cluster) {
  const Round round = messages_of(work.neighbours, cluster.workers);
  std::vector<DirectExchanges::NeighbourLoad> all;
  for (const SecondsPerByte copies : copies_by_rank(round, host_costs(cluster))) all.push_back({copies, 0});
  for (const Message& message : round) all[message.to].received += 1;
  return all;
}

}  // namespace

DirectExchanges::DirectExchanges(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph)
    : simulated_(simulated),
      cluster_(cluster),
      graph_(graph),
      inboxes_(graph.tasks.size()),
      loads_(graph.tasks.size()) {
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const Work& work = graph.tasks[t].work;
    if (std::holds_alternative<ShardWork>(work) || std::holds_alternative<NeighbourWork>(work))
      inboxes_[t].resize(static_cast<std::size_t>(simulated.inboxes(work)));
    if (const auto* neighbours = std::get_if<NeighbourWork>(&work)) loads_[t] = loads_of(*neighbours, cluster);
  }
}

double DirectExchanges::execute(const ShardWork& work, Track& track, TaskId task) {
  const Participant& self = *track.participant;
  const bool is_worker = self.role == Role::worker, is_push = work.exchange == ShardExchange::push;
  // A worker copies bytes to and from other hosts; a shard's host waits for those who copy most.
  const double copying = (is_worker ? worker_copies(cluster_, work.shard_bytes, graph_.shards_co_located, self.index)
                                    : longest_worker_copies(cluster_, work.shard_bytes, graph_.shards_co_located))
                             .si();
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
  const auto& [copies, received] = loads_[task][track.participant->index];
  sleep((work.bytes * copies + work.added * received * cluster_.reduction_cost).si());
  return std::max(start, sent);
}

/// Sends and receives a participant's messages.
/// @returns when the last sender sent
double DirectExchanges::exchange(const SimulatedExchange& messages, Track& track, TaskId task) {
  std::vector<Inbox>& inboxes = inboxes_[task];
  std::vector<Posted> outgoing;
  for (const auto& [message, inbox] : messages.outgoing) outgoing.push_back({message, &inboxes[inbox]});
  const auto comms = start_messages(outgoing, 1.0, simulated_.meter);
  const double sent = receive_all(messages.expected, inboxes, track);
  await(comms, simulated_.meter);
  return sent;
}

}  // namespace stepcast
