#include "sim/replay/asynchronous_servers.hpp"

#include "sim/replay/actor.hpp"
#include "sim/replay/messages.hpp"
#include "sim/replay/shard_hosts.hpp"

namespace stepcast {

AsynchronousServers::AsynchronousServers(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph)
    : simulated_(simulated), cluster_(cluster), graph_(graph) {
  if (graph.asynchronous)
    for (int j = 0; j < graph.shards; ++j) shards_.push_back(simgrid::s4u::Mutex::create());
}

double AsynchronousServers::execute(const ShardTransfer& transfer, const Track& track) {
  const double start = now();
  std::vector<Posted> outgoing{{simulated_.transfer(transfer, track.participant->number)}};
  for (const auto& comm : start_messages(outgoing, 1.0)) comm->wait();
  return start;
}

double AsynchronousServers::execute(const ShardServe& serve, const Track& track) {
  const bool beside = is_beside(track.participant->index, serve.shard, cluster_, graph_);
  const auto& shard = shards_[serve.shard];
  shard->lock();
  const double start = now();
  sleep((serve.time + (beside ? Bytes{} : serve.copied) * cluster_.host_cost).si());
  shard->unlock();
  return start;
}

double AsynchronousServers::execute(const ShardCopy& copy, const Track& track) {
  const double start = now();
  sleep((to_other_hosts(copy.shard_bytes, track.participant->index, cluster_, graph_) * cluster_.host_cost).si());
  return start;
}

}  // namespace stepcast
