#include "models/equation/traffic.hpp"

#include <map>
#include <utility>

namespace stepcast {
namespace {

std::vector<Traffic> of_collectives(const StepGraph& graph) {
  std::map<bool, CollectiveTraffic> in_flight{{false, {}}};
  using Buffer = std::pair<const std::pair<Operation, Communicators>, Bytes>;
  Buffer* latest[] = {nullptr, nullptr};  // by whether it is in flight: most tasks are like the one before
  for (const Task& task : graph.tasks) {
    const auto* work = std::get_if<CollectiveWork>(&task.work);
    if (!work) continue;
    const bool flies = task.worker_stream == graph.in_flight;
    const std::pair key(work->call.algorithm->operation, work->call.among);
    if (!latest[flies] || latest[flies]->first != key)
      latest[flies] = &*in_flight[flies].buffers.try_emplace(key).first;
    latest[flies]->second += work->call.bytes * (1.0 / graph.local_steps);
  }
  std::vector<Traffic> all;
  for (auto& [is_in_flight, traffic] : in_flight) all.emplace_back(std::move(traffic));
  return all;
}

NeighbourTraffic of_neighbours(const StepGraph& graph) {
  NeighbourTraffic traffic;
  const double share = 1.0 / graph.local_steps;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<NeighbourWork>(&task.work))
      traffic.exchanges.push_back({work->bytes * share, work->added * share, work->neighbours});
  return traffic;
}

ServerTraffic of_servers(const ParameterServerStrategy& strategy, const StepGraph& graph) {
  ServerTraffic traffic;
  traffic.first_pushes = graph.first_pushes;
  traffic.shards = strategy.shards;
  traffic.equal_shards = strategy.balance == ShardBalance::split || strategy.shards == 1;
  traffic.co_located = strategy.placement == ServerPlacement::co_located;
  traffic.asynchronous = strategy.consistency == Consistency::asynchronous || graph.first_pushes;
  const auto add = [&](ShardExchange exchange, Bytes bytes) {
    (exchange == ShardExchange::push ? traffic.push : traffic.pull) += bytes * (1.0 / graph.local_steps);
  };
  for (const Task& task : graph.tasks) {
    if (const auto* work = std::get_if<ShardWork>(&task.work))
      for (const Bytes bytes : work->shard_bytes) add(work->exchange, bytes);
    if (const auto* transfer = std::get_if<ShardTransfer>(&task.work)) add(transfer->exchange, transfer->bytes);
  }
  return traffic;
}

}  // namespace

std::vector<Traffic> traffic_of(const Strategy& strategy, const StepGraph& graph) {
  if (const auto* servers = std::get_if<ParameterServerStrategy>(&strategy)) return {of_servers(*servers, graph)};
  const bool gossip = std::holds_alternative<GossipStrategy>(strategy);
  if (gossip && graph.asynchronous) return {NeighbourTraffic{}};  // some workers may do most steps
  std::vector<Traffic> all = of_collectives(graph);
  if (gossip) all.emplace_back(of_neighbours(graph));
  return all;
}

}  // namespace stepcast
