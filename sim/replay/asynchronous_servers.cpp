#include "sim/replay/asynchronous_servers.hpp"

#include <utility>

#include "models/part/host_costs.hpp"
#include "models/price/shard_copies.hpp"
#include "models/price/shard_placement.hpp"

namespace stepcast {

AsynchronousServers::AsynchronousServers(SimulatedCluster& simulated, const Cluster& cluster, const StepGraph& graph)
    : simulated_(simulated), cluster_(cluster), graph_(graph) {
  if (!graph.asynchronous) return;
  for (int j = 0; j < graph.shards; ++j) shards_.push_back(simgrid::s4u::Mutex::create());
  if (!graph.first_pushes) return;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t)
    if (const Task& task = graph.tasks[t]; std::holds_alternative<ShardServe>(task.work) && simulated.includes(task))
      parts_[static_cast<TaskId>(t)].held.assign(simulated.participants().size(), 0);
}

double AsynchronousServers::execute(const ShardTransfer& transfer, Track& track) {
  const double start = now();
  simulated_.carry(transfer, track);
  return start;
}

double AsynchronousServers::execute(const ShardServe& serve, Track& track, TaskId task) {
  const int host = shard_host(cluster_, graph_.shards, graph_.shards_co_located, serve.shard);
  const double copying = (serve.copied * host_costs(cluster_).of(track.participant->index, host)).si();
  const auto& shard = shards_[serve.shard];
  shard->lock();
  const double start = now();
  sleep(copying);
  if (!graph_.first_pushes) {
    sleep(serve.time.si());
    shard->unlock();
    return start;
  }
  Part& part = parts_.at(task);
  int& held = part.held[track.participant->number];
  const bool takes_part = held == part.updates;
  const bool completes = takes_part && ++part.pushed == *graph_.first_pushes;
  if (completes) {
    sleep(serve.time.si());
    end_update(part);
  }
  shard->unlock();
  if (takes_part && !completes && !stopped_) {
    part.waiting.push_back(&track);
    while (held == part.updates && !stopped_) track.wait();
    held = part.updates;
    return now();
  }
  held = part.updates;
  return start;
}

double AsynchronousServers::execute(const ShardCopy& copy, const Track& track) {
  const double start = now();
  sleep(worker_copies(cluster_, copy.shard_bytes, graph_.shards_co_located, track.participant->index).si());
  return start;
}

void AsynchronousServers::end_update(Part& part) {
  const auto update = static_cast<std::size_t>(part.updates++);
  part.pushed = 0;
  for (Track* waiting : std::exchange(part.waiting, {})) waiting->notify();
  if (updated_.size() <= update) updated_.resize(update + 1, 0);
  if (++updated_[update] == parts_.size()) update_ends_.push_back(now());
}

void AsynchronousServers::stop_updates() {
  if (std::exchange(stopped_, true)) return;
  for (auto& [task, part] : parts_)
    for (Track* waiting : std::exchange(part.waiting, {})) waiting->notify();
}

}  // namespace stepcast
