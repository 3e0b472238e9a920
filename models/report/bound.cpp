#include "models/report/bound.hpp"

#include <algorithm>

#include "models/collective/collective.hpp"
#include "models/collective/direct.hpp"
#include "models/strategy/builder.hpp"

namespace stepcast {
namespace {

/// α and β of the best link in the cluster.
PathPrice best_link(const Cluster& cluster) {
  PathPrice best{cluster.link.latency, inverse(cluster.link.bandwidth)};
  const auto offer = [&](Seconds latency, BytesPerSecond bandwidth) {
    best.alpha = std::min(best.alpha, latency);
    best.beta = std::min(best.beta, inverse(bandwidth));
  };
  for (const WorkerGroup& group : cluster.groups) offer(group.latency.value_or(cluster.link.latency), group.bandwidth.value_or(cluster.link.bandwidth));
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) offer(nodes->inner.latency, nodes->inner.bandwidth);
  return best;
}

struct Terms {
  const Scenario& scenario;
  const Workload& workload;

  [[nodiscard]] int p() const { return scenario.cluster.workers; }
  [[nodiscard]] Bytes n() const { return payload(scenario.compressor, workload.gradient_bytes); }

  CostTerms operator()(const AllReduceStrategy&) const { return lower_bound(Operation::all_reduce, n(), p()); }
  CostTerms operator()(const PipelinedStrategy&) const { return lower_bound(Operation::all_reduce, n(), p()); }
  CostTerms operator()(const CollectiveBenchmark& s) const { return lower_bound(s.operation, payload(scenario.compressor, s.size), p()); }
  CostTerms operator()(const GossipStrategy&) const { return neighbour_exchange_cost(n(), p()); }
  CostTerms operator()(const ParameterServerStrategy& s) const {
    CostTerms terms;
    const bool co_located = s.placement == ServerPlacement::co_located;
    const double flows = co_located ? p() - 1 : p();
    if (flows == 0) return terms;
    // Pushes and pulls run in opposite directions of full-duplex links, so they may overlap completely.
    const Bytes worker = co_located ? n() * (1.0 - 1.0 / s.shards) : n();
    terms.add(Path::far, 2, std::max(worker, n() * (flows / s.shards)));
    terms.copied = worker * 2.0;
    terms.reduced = n() * (static_cast<double>(p()) / s.shards);
    return terms;
  }
};

}  // namespace

Bound lower_bound(const Scenario& scenario, const Workload& workload) {
  const Cluster& cluster = scenario.cluster;
  const CostTerms terms = std::visit(Terms{scenario, workload}, scenario.strategy);
  const PathPrice link = best_link(cluster);
  double slowest = 0.0, rate = 0.0;  // of one worker, and of all together
  int rest = cluster.workers;
  for (const WorkerGroup& group : cluster.groups) {
    slowest = std::max(slowest, 1.0 / group.speed);
    rate += group.count * group.speed;
    rest -= group.count;
  }
  if (rest > 0) slowest = std::max(slowest, 1.0);
  rate += rest;

  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  const bool asynchronous = server && server->consistency != Consistency::synchronous;
  // Servers may do the update instead of the worker.
  const Seconds compute = workload.forward + workload.backward + (server ? Seconds{} : workload.update);
  Bound bound;
  // Asynchronous workers do not wait for the slowest; a step is then the mean over workers' rates.
  bound.compute = asynchronous && server->consistency == Consistency::asynchronous ? compute * (cluster.workers / rate) : compute * slowest;
  bound.latency = link.alpha * (terms.messages[0] + terms.messages[1] + terms.messages[2]);
  bound.bandwidth = terms.total_wire() * link.beta + terms.copied * cluster.host_cost;
  const SecondsPerByte gamma = server ? server->server_reduction_cost.value_or(cluster.reduction_cost) : cluster.reduction_cost;
  bound.reduction = terms.reduced * gamma;
  bound.step = std::max({bound.compute, bound.bandwidth, bound.reduction});
  const bool pipelined = std::holds_alternative<PipelinedStrategy>(scenario.strategy);
  if (!pipelined && !asynchronous) bound.step = std::max(bound.step, bound.latency);
  return bound;
}

}  // namespace stepcast
