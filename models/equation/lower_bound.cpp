#include "models/equation/lower_bound.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "models/collective/neighbours.hpp"
#include "models/equation/latency_bound.hpp"
#include "models/equation/traffic.hpp"
#include "models/equation/ways_bound.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/strategy_parts.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/best_link.hpp"
#include "models/strategy/island_steps.hpp"

namespace stepcast {
namespace {

/// GPU time of a worker's compressor in one step.
Seconds codec_time(const StepGraph& graph) {
  Seconds sum{};
  for (const Task& task : graph.tasks) {
    const auto* compute = std::get_if<ComputeWork>(&task.work);
    if (compute && (task.phase == Phase::encode || task.phase == Phase::decode))
      sum += compute->duration * (1.0 / graph.local_steps);
  }
  return sum;
}

/// The codec time inside collectives of p workers, which replaces γ.
Seconds recode_time(const StepGraph& graph, int p) {
  Seconds sum{};
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<CollectiveWork>(&task.work))
      sum += work->call.recode * ((work->call.among.size(p) - 1.0) * (1.0 / graph.local_steps));
  return sum;
}

/// The time of the busiest shard for one step of every worker, with its tasks in sequence. Its host copies nothing for
/// the worker beside it; in asynchronous training that worker may do nearly all steps.
Seconds busiest_shard(const StepGraph& graph, const Cluster& cluster) {
  std::vector<Seconds> busy(graph.shards);
  const HostCosts costs = host_costs(cluster);
  const SecondsPerByte copy = graph.shards_co_located ? costs.least() : costs.between;
  // A step needs p pushes. Each is served by itself, or all of an update together; `remote` ones are from other hosts.
  const double p = graph.first_pushes.value_or(cluster.workers), services = graph.first_pushes ? 1 : p;
  const double remote = !graph.shards_co_located ? p : graph.asynchronous && !graph.staleness ? 0 : p - 1;
  for (const Task& task : graph.tasks) {
    if (const auto* serve = std::get_if<ServeWork>(&task.work))
      for (std::size_t j = 0; j < busy.size(); ++j) busy[j] += serve->time[j];
    if (const auto* serve = std::get_if<ShardServe>(&task.work))
      busy[serve->shard] += serve->time * services + serve->copied * copy * remote;
  }
  return busy.empty() ? Seconds{} : *std::max_element(busy.begin(), busy.end()) * (1.0 / graph.local_steps);
}

/// The load of the busiest participant: bytes on its link, bytes copied by its host, and bytes added.
/// latency_bound covers messages that follow each other.
struct Load {
  int p;
  bool in_network = false;  ///< whether switches may add up

  CostTerms operator()(const CollectiveTraffic& traffic) const {
    CostTerms all;
    for (const auto& [kind, bytes] : traffic.buffers) {
      const CostTerms terms = lower_bound(kind.first, bytes, kind.second.size(p), in_network);
      all.add(Path::far, 0, terms.total_wire());
      all.reduced += terms.reduced;
    }
    return all;
  }
  CostTerms operator()(const NeighbourTraffic& traffic) const {
    CostTerms all;
    for (const auto& [bytes, added, neighbours] : traffic.exchanges) {
      const CostTerms terms = neighbour_exchange_cost(neighbours, bytes, added, p);
      all.add(Path::neighbour, 0, terms.total_wire());
      all.reduced += terms.reduced;
    }
    return all;
  }
  CostTerms operator()(const ServerTraffic& traffic) const {
    CostTerms terms;
    // An asynchronous worker beside its shard may do all the work while the others wait for their links.
    if (traffic.co_located && (p == 1 || traffic.asynchronous)) return terms;
    const double flows = traffic.co_located ? p - 1 : traffic.first_pushes.value_or(p), shards = traffic.shards;
    // On a dedicated server's full-duplex link, pushes and pulls
    // have opposite directions and may overlap completely.
    const Bytes n = std::max(traffic.push, traffic.pull);
    const Bytes worker = traffic.co_located ? n * (1.0 - 1.0 / shards) : n;
    // A co-located shard's host sends its worker's pushes and its shard's pulls over the same link.
    const Bytes host = traffic.co_located ? traffic.push * (1.0 - 1.0 / shards) + traffic.pull * (flows / shards)
                                          : std::max(worker, n * (flows / shards));
    terms.add(Path::shard, 0, traffic.asynchronous ? n * (flows / shards) : host);
    terms.copied[static_cast<int>(Path::shard)] = traffic.asynchronous ? Bytes{} : worker;
    return terms;
  }
};

Seconds update_of_worker(const Scenario& scenario, Seconds update) {
  const auto sharded = sharded_step(scenario.strategy);
  const Seconds own = sharded ? update / sharded->group(scenario.cluster.workers) : update;
  if (const auto outer = outer_update_of(scenario.strategy))
    return own + update * (outer->factor / (static_cast<double>(outer->replica) * outer->steps));
  // Servers update in the step that pushes and then pulls.
  if (const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy))
    return update * ((server->period() - (server->two_way ? 0.0 : 1.0)) / server->period());
  return own;
}

/// The least time of a step in which every worker that it needs computes, over that of a worker of speed 1.
double slowness(const Cluster& cluster, const StepGraph& graph, bool asynchronous) {
  const WorkerSpeeds all = worker_speeds(cluster);
  if (!asynchronous) return 1.0 / all.slowest;
  // By chance, another worker may be slow each time. The workers together do the passes of all updates.
  if (!graph.first_pushes || cluster.jitter.cv > 0) return graph.first_pushes.value_or(cluster.workers) / all.sum;
  std::vector<double> speeds;
  for (const WorkerKind& kind : worker_kinds(cluster))
    speeds.insert(speeds.end(), static_cast<std::size_t>(kind.count), kind.speed);
  const auto last = speeds.begin() + (*graph.first_pushes - 1);
  std::nth_element(speeds.begin(), last, speeds.end(), std::greater<>());
  return 1.0 / *last;
}

}  // namespace

Bound lower_bound(const Scenario& scenario, const Workload& workload, const StepGraph& graph) {
  const Cluster& cluster = scenario.cluster;
  const std::vector<Traffic> traffic = traffic_of(scenario.strategy, graph);
  const auto* servers = std::get_if<ServerTraffic>(&traffic.front());
  const bool asynchronous = servers ? servers->asynchronous : graph.asynchronous;

  Bound bound;
  // The update is on servers, or each worker does its share.
  const bool trains = !std::holds_alternative<CollectiveBenchmark>(scenario.strategy);
  const Seconds compute =
      !trains ? Seconds{} : workload.passes() + codec_time(graph) + update_of_worker(scenario, workload.update);
  bound.compute = compute * slowness(cluster, graph, asynchronous);

  const HostCosts costs = host_costs(cluster);
  const Seconds recode = recode_time(graph, cluster.workers);
  bound.communication = !std::holds_alternative<SimGridXml>(cluster.topology);
  for (const Traffic& one : traffic) {
    const CostTerms load = std::visit(Load{cluster.workers, cluster.in_network_factor.has_value()}, one);
    bound.reduction = std::max(bound.reduction, servers              ? busiest_shard(graph, cluster)
                                                : recode > Seconds{} ? recode
                                                                     : load.reduced * cluster.reduction_cost);
    if (!bound.communication) continue;
    const Seconds wire = std::max(load.total_wire() * best_link(cluster).beta, ways_bound(one, cluster)),
                  copies = load.total_copied() * (servers && !servers->co_located ? costs.between : costs.least());
    bound.latency = std::max(bound.latency, latency_bound(one, cluster) / static_cast<double>(graph.local_steps));
    // A collective's hosts copy after each round, unless slices overlap. A server's copies overlap with other messages.
    bound.bandwidth =
        std::max(bound.bandwidth, servers || cluster.stack.slice ? std::max(wire, copies) : wire + copies);
  }
  bound.step = std::max({bound.compute, bound.bandwidth, bound.reduction});
  const bool pipelined = std::holds_alternative<PipelinedStrategy>(scenario.strategy);
  if (!pipelined && !asynchronous) bound.step = std::max(bound.step, bound.latency);
  return bound;
}

}  // namespace stepcast
