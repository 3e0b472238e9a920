#include "models/report/bound.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "models/collective/collective.hpp"
#include "models/collective/direct.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/branches.hpp"
#include "models/price/cluster_prices.hpp"
#include "models/price/path_prices.hpp"

namespace stepcast {
namespace {

/// The best that the topology does for a message between neighbours: its share of α, and links side by side.
struct Nearest {
  double alpha = 1.0;
  double links = 1.0;
};

struct NearestOf {
  Nearest operator()(const Torus& t) const { return {0.5, 2.0 * static_cast<double>(t.dimensions.size())}; }
  Nearest operator()(const FatTree& t) const { return {1.0, static_cast<double>(t.up.front()) * t.parallel.front()}; }
  template <class T>
  Nearest operator()(const T&) const { return {}; }
};

double latency_factor(const Cluster& cluster) {
  const auto* tcp = std::get_if<TcpTransport>(&cluster.transport);
  return tcp ? std::min(1.0, tcp->latency_factor) : 1.0;
}

/// α and β of the best connection in the cluster.
PathPrice best_link(const Cluster& cluster) {
  PathPrice best{cluster.link.latency, inverse(cluster.link.bandwidth)};
  const auto offer = [&](Seconds latency, BytesPerSecond bandwidth) {
    best.alpha = std::min(best.alpha, latency);
    best.beta = std::min(best.beta, inverse(bandwidth));
  };
  for (const WorkerGroup& group : cluster.groups) offer(group.latency.value_or(cluster.link.latency), group.bandwidth.value_or(cluster.link.bandwidth));
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) offer(nodes->inner.latency, nodes->inner.bandwidth);
  const Nearest nearest = std::visit(NearestOf{}, cluster.topology);
  best.alpha *= nearest.alpha;
  best.beta = best.beta / nearest.links;
  best.alpha *= latency_factor(cluster);
  return best;
}

/// What it takes from some worker to some other, over however many workers in between, and if links are alike from some worker
/// of a machine or rack to any of another. Nothing where only a fabric's longest route is known, which no worker may need.
Seconds farthest(const Cluster& cluster) {
  const bool known = std::holds_alternative<Star>(cluster.topology) || std::holds_alternative<Nodes>(cluster.topology) || std::holds_alternative<Racks>(cluster.topology);
  if (!known || cluster.workers == 1) return {};
  return collective_prices(cluster).path[static_cast<int>(Path::far)].alpha * latency_factor(cluster);
}

/// Each worker as a branch of its own, whose only way is its own link, where that is the first on all its routes and links may
/// be unlike: on a star and in racks.
std::vector<Branch> hosts_as_branches(const Cluster& cluster) {
  std::vector<Branch> all;
  if (!std::holds_alternative<Star>(cluster.topology) && !std::holds_alternative<Racks>(cluster.topology)) return all;
  for (const WorkerKind& kind : worker_kinds(cluster)) all.push_back({kind.count, 1, 1, kind.link.bandwidth});
  return all;
}

/// What the ways of G branches must at least carry for a collective of n bytes, whatever its algorithm. n is the buffer as its
/// messages have it, after compression.
///
/// All-reduce: to bring each byte's sum to G branches takes 2(G-1) messages between them, G-1 to have it somewhere and G-1
/// to have it everywhere: 2(G-1)·n over all ways together. And each branch must receive n bytes, since with its own buffers
/// given the sum may still be any n bytes, and send n, since its own buffers may make the others' sum any n bytes: n over the
/// narrowest branch's ways. A slow one can have it as cheap: it sends its buffer to a fast one, which answers with sums.
/// All-gather: G-1 messages of each byte, and of p parts p-w into a branch of w workers; reduce-scatter the same backwards. A
/// broadcast brings n to each branch but the root's, which must send it; an all-to-all sends w·(p-w)·n/p out of w workers.
Seconds through_ways(Operation operation, Bytes n, const std::vector<Branch>& all, int p) {
  BytesPerSecond together{};
  Seconds busiest{}, gathering{}, narrowest{};
  double others = -1;  // G - 1
  for (const Branch& branch : all) {
    const BytesPerSecond ways = branch.bandwidth * branch.ways;
    together = together + ways * branch.count;
    narrowest = std::max(narrowest, n / ways);
    gathering = std::max(gathering, n * (static_cast<double>(p - branch.workers) / p) / ways);
    busiest = std::max(busiest, n * (static_cast<double>(branch.workers) * (p - branch.workers) / p) / ways);
    others += branch.count;
  }
  if (others < 1) return {};
  switch (operation) {
    case Operation::all_reduce: return std::max(n * (2 * others) / together, narrowest);
    case Operation::all_gather:
    case Operation::reduce_scatter: return std::max(n * others / together, gathering);
    case Operation::broadcast: return narrowest;
    case Operation::all_to_all: return busiest;
  }
  return {};
}

/// The same of a collective in each of several communicators at once, with buffers of n bytes each, that the ways carry together.
/// With m members in G branches, k of them in one: all-reduce 2(G-1)·n between branches, n out of and into each of several;
/// all-gather (G-1)·n, and (m-k)/m·n into a branch, reduce-scatter the same out of it.
/// @pre all ranks are one, or it is an all-reduce, all-gather or reduce-scatter
Seconds through_ways(Operation operation, Bytes n, const std::vector<Branch>& all, int p, const Communicators& among) {
  if (among.is_one()) return through_ways(operation, n, all, p);
  const double m = among.members;
  const auto count = static_cast<std::size_t>(among.count(p));
  std::vector<int> spread(count), here(count);  // by communicator: its branches, its members in one of them
  BytesPerSecond together{};
  Seconds busiest{};
  int first = 0;  // rank
  for (const Branch& branch : all)
    for (int i = 0; i < branch.count; ++i, first += branch.workers) {
      const BytesPerSecond ways = branch.bandwidth * branch.ways;
      together = together + ways;
      for (int rank = first; rank < first + branch.workers; ++rank) ++here[static_cast<std::size_t>(among.of(rank))];
      double crossing = 0;  // buffers
      for (int rank = first; rank < first + branch.workers; ++rank) {
        const auto c = static_cast<std::size_t>(among.of(rank));
        const int members = std::exchange(here[c], 0);
        if (members == 0) continue;
        ++spread[c];
        crossing += operation == Operation::all_reduce ? (members < m ? 1.0 : 0.0) : (m - members) / m;
      }
      busiest = std::max(busiest, n * crossing / ways);
    }
  double between = 0;
  for (const int branches : spread) between += branches - 1;
  return all.empty() ? Seconds{} : std::max(busiest, n * (between * (operation == Operation::all_reduce ? 2.0 : 1.0)) / together);
}

/// And of n bytes to both neighbours on the ring of all workers, which crosses every branch's border twice: by the ways of its
/// first worker and its last, which may be one.
Seconds neighbours_through_ways(Bytes n, const std::vector<Branch>& all, int p) {
  if (all.empty() || all.front().workers == p) return {};
  Seconds busiest{};
  for (const Branch& branch : all) {
    const bool one_way = (branch.workers - 1) % branch.ways == 0;
    busiest = std::max(busiest, n * (one_way && p > 2 ? 2.0 : 1.0) / branch.bandwidth);
  }
  return busiest;
}

/// Whether fast workers do more steps than slow ones. With staleness bounded all do equally many in the long run: whatever each
/// worker, host and way must bear for one step of every worker bounds them as it does synchronous ones.
bool is_asynchronous(const ParameterServerStrategy& s) { return s.consistency == Consistency::asynchronous; }

/// Bytes that a step's exchanges move, and the GPU time of its compressor.
struct Traffic {
  std::map<std::pair<Operation, Communicators>, Bytes> collective;  ///< buffers of one communicator, by operation
  Bytes push{}, pull{};
  Seconds codec{};
  Seconds recode{};                       ///< inside collectives, instead of γ
};

Traffic traffic_of(const StepGraph& graph, int p) {
  Traffic all;
  const double share = 1.0 / graph.local_steps;
  for (const Task& task : graph.tasks) {
    const auto* compute = std::get_if<ComputeWork>(&task.work);
    if (compute && (task.phase == Phase::encode || task.phase == Phase::decode)) all.codec += compute->duration * share;
    if (const auto* work = std::get_if<CollectiveWork>(&task.work)) {
      all.collective[{work->call.algorithm->operation, work->call.among}] += work->call.bytes * share;
      all.recode += work->call.recode * ((p - 1.0) * share);
    }
    if (const auto* direct = std::get_if<DirectWork>(&task.work))
      for (const Bytes bytes : direct->shard_bytes) (direct->pattern == DirectWork::Pattern::pull ? all.pull : all.push) += bytes;
    if (const auto* transfer = std::get_if<ShardTransfer>(&task.work)) (transfer->push ? all.push : all.pull) += transfer->bytes;
  }
  return all;
}

/// What the busiest shard does for one step of every worker, one thing after the other. Its host copies nothing for the worker
/// beside it, which may do nearly all asynchronous steps.
Seconds busiest_shard(const StepGraph& graph, const Cluster& cluster) {
  std::vector<Seconds> busy(static_cast<std::size_t>(graph.shards));
  const double p = cluster.workers, remote = !graph.shards_co_located ? p : graph.asynchronous && !graph.staleness ? 0 : p - 1;
  for (const Task& task : graph.tasks) {
    if (const auto* serve = std::get_if<ServeWork>(&task.work))
      for (std::size_t j = 0; j < busy.size(); ++j) busy[j] += serve->time[j];
    if (const auto* serve = std::get_if<ShardServe>(&task.work)) busy[static_cast<std::size_t>(serve->shard)] += serve->time * p + serve->copied * cluster.host_cost * remote;
  }
  return busy.empty() ? Seconds{} : *std::max_element(busy.begin(), busy.end());
}

/// Of a step's exchanges: what passes the ways out of machines and racks, and the hosts' own links where they may be unlike.
struct Ways {
  const Cluster& cluster;
  const Traffic& traffic;

  [[nodiscard]] int p() const { return cluster.workers; }

  Seconds operator()(const AllReduceStrategy&) const { return collectives(); }
  Seconds operator()(const PipelinedStrategy&) const { return collectives(); }
  Seconds operator()(const ShardedStrategy&) const { return collectives(); }
  Seconds operator()(const LocalSgdStrategy&) const { return collectives(); }
  Seconds operator()(const CollectiveBenchmark&) const { return collectives(); }
  Seconds operator()(const GossipStrategy&) const {
    return std::max(neighbours_through_ways(traffic.push, branches(cluster, 0, false), p()), neighbours_through_ways(traffic.push, hosts_as_branches(cluster), p()));
  }
  Seconds operator()(const ParameterServerStrategy& s) const {
    // Of asynchronous workers some may do all the work; how unequal shards are is not looked at.
    if (is_asynchronous(s) || (s.balance == ShardBalance::greedy && s.shards > 1)) return {};
    const std::vector<Bytes> equal(static_cast<std::size_t>(s.shards), std::max(traffic.push, traffic.pull) / s.shards);
    const bool co_located = s.placement == ServerPlacement::co_located;
    const Seconds ways = busiest_way(equal, branches(cluster, s.shards, co_located), p());
    return hosts_as_branches(cluster).empty() ? ways : std::max(ways, busiest_host(equal, cluster, co_located));
  }

 private:
  [[nodiscard]] Seconds collectives() const {
    Seconds sum{};
    const std::vector<Branch> groups = branches(cluster, 0, false), hosts = hosts_as_branches(cluster);
    for (const auto& [kind, bytes] : traffic.collective) {
      const auto& [operation, among] = kind;
      sum += std::max(through_ways(operation, bytes, groups, p(), among), through_ways(operation, bytes, hosts, p(), among));
    }
    return sum;
  }
};

/// What the busiest participant's link carries, its host copies and it adds up. How many messages follow each other is Latency's.
struct Terms {
  const Scenario& scenario;
  const Traffic& traffic;

  [[nodiscard]] int p() const { return scenario.cluster.workers; }

  CostTerms operator()(const AllReduceStrategy&) const { return collectives(); }
  CostTerms operator()(const PipelinedStrategy&) const { return collectives(); }
  CostTerms operator()(const ShardedStrategy&) const { return collectives(); }
  CostTerms operator()(const LocalSgdStrategy&) const { return collectives(); }
  CostTerms operator()(const CollectiveBenchmark&) const { return collectives(); }
  CostTerms operator()(const GossipStrategy&) const { return neighbour_exchange_cost(traffic.push, p()); }
  CostTerms operator()(const ParameterServerStrategy& s) const {
    CostTerms terms;
    const bool co_located = s.placement == ServerPlacement::co_located;
    // An asynchronous worker beside its shard may do all the work while the others wait for their links.
    if (co_located && (p() == 1 || is_asynchronous(s))) return terms;
    const double flows = co_located ? p() - 1 : p();
    // Over a dedicated server's full-duplex link pushes and pulls run in opposite directions, and may overlap completely.
    const Bytes n = std::max(traffic.push, traffic.pull);
    const Bytes worker = co_located ? n * (1.0 - 1.0 / s.shards) : n;
    // A co-located shard's host sends what its worker pushes and what its shard is pulled for by the same link.
    const Bytes host = co_located ? traffic.push * (1.0 - 1.0 / s.shards) + traffic.pull * (flows / s.shards) : std::max(worker, n * (flows / s.shards));
    terms.add(Path::shard, 0, is_asynchronous(s) ? n * (flows / s.shards) : host);
    terms.copied = is_asynchronous(s) ? Bytes{} : worker;
    return terms;
  }

 private:
  /// Exchanges of different kinds follow each other, since each needs the result of the one before.
  [[nodiscard]] CostTerms collectives() const {
    CostTerms all;
    for (const auto& [kind, bytes] : traffic.collective) {
      const CostTerms terms = lower_bound(kind.first, bytes, kind.second.size(p()));
      all.add(Path::far, 0, terms.total_wire());
      all.reduced += terms.reduced;
    }
    return all;
  }
};

/// Latencies that must follow each other in a step: of as many messages as a collective takes at least, at the best of them, and
/// of the way that its data has to the farthest.
struct Latency {
  const Scenario& scenario;
  const Traffic& traffic;

  [[nodiscard]] const Cluster& cluster() const { return scenario.cluster; }
  [[nodiscard]] Seconds best() const { return best_link(cluster()).alpha; }
  /// Of what some worker of every machine or rack sends out of it.
  [[nodiscard]] Seconds out_of_groups() const {
    const bool leaves = natural_group(cluster()) < cluster().workers && links_are_alike(cluster());
    return leaves ? std::max(best(), farthest(cluster())) : best();
  }

  Seconds operator()(const AllReduceStrategy&) const { return collectives(); }
  Seconds operator()(const PipelinedStrategy&) const { return collectives(); }
  Seconds operator()(const ShardedStrategy&) const { return collectives(); }
  Seconds operator()(const LocalSgdStrategy&) const { return collectives(); }
  Seconds operator()(const CollectiveBenchmark&) const { return collectives(); }
  Seconds operator()(const GossipStrategy&) const {
    return cluster().workers == 1 ? Seconds{} : out_of_groups();
  }
  /// A push, and a pull after it.
  Seconds operator()(const ParameterServerStrategy& s) const {
    const bool co_located = s.placement == ServerPlacement::co_located;
    if (co_located && (cluster().workers == 1 || is_asynchronous(s))) return {};
    if (co_located) return 2.0 * out_of_groups();
    // Dedicated shards may be in a rack with all workers, and near to some in a fabric.
    const bool all_alike_far = std::holds_alternative<Star>(cluster().topology) || std::holds_alternative<Nodes>(cluster().topology);
    const Seconds shard = collective_prices(cluster()).path[static_cast<int>(Path::shard)].alpha * latency_factor(cluster());
    return 2.0 * (all_alike_far && !is_asynchronous(s) ? std::max(best(), shard) : best());
  }

 private:
  [[nodiscard]] Seconds collectives() const {
    Seconds sum{};
    for (const auto& [kind, bytes] : traffic.collective) {
      const auto& [operation, among] = kind;
      const Seconds rounds = best() * lower_bound(operation, bytes, among.size(cluster().workers)).total_messages();
      // A broadcast's root may be near to all, a communicator in one machine.
      sum += operation == Operation::broadcast || !among.is_one() ? rounds : std::max(rounds, farthest(cluster()));
    }
    return sum;
  }
};

Seconds update_of_worker(const Scenario& scenario, Seconds update) {
  if (const auto* local = std::get_if<LocalSgdStrategy>(&scenario.strategy)) return update * (1.0 + local->outer_update_factor / local->steps);
  if (const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy)) return server->two_way ? update : Seconds{};
  if (const auto* sharded = std::get_if<ShardedStrategy>(&scenario.strategy)) return update / sharded->group(scenario.cluster.workers);
  return update;
}

}  // namespace

Bound lower_bound(const Scenario& scenario, const Workload& workload, const StepGraph& graph) {
  const Cluster& cluster = scenario.cluster;
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  const bool asynchronous = server && is_asynchronous(*server);
  const WorkerSpeeds speed = worker_speeds(cluster);
  const Traffic traffic = traffic_of(graph, cluster.workers);

  Bound bound;
  // Servers do the update instead of the worker, or each worker does its share. Workers that need not wait for the slowest add
  // their rates.
  const bool trains = !std::holds_alternative<CollectiveBenchmark>(scenario.strategy);
  const Seconds compute = !trains ? Seconds{} : workload.passes() + traffic.codec + update_of_worker(scenario, workload.update);
  bound.compute = asynchronous ? compute * (cluster.workers / speed.sum) : compute * (1.0 / speed.slowest);

  const CostTerms terms = std::visit(Terms{scenario, traffic}, scenario.strategy);
  bound.reduction = server ? busiest_shard(graph, cluster) : traffic.recode > Seconds{} ? traffic.recode : terms.reduced * cluster.reduction_cost;
  bound.communication = !std::holds_alternative<SimGridXml>(cluster.topology);
  if (bound.communication) {
    const PathPrice link = best_link(cluster);
    const Seconds wire = std::max(terms.total_wire() * link.beta, std::visit(Ways{cluster, traffic}, scenario.strategy)), copies = terms.copied * cluster.host_cost;
    bound.latency = std::visit(Latency{scenario, traffic}, scenario.strategy) / static_cast<double>(graph.local_steps);
    // A collective's hosts copy after each round; a server's copies overlap with other messages.
    bound.bandwidth = server ? std::max(wire, copies) : wire + copies;
  }
  bound.step = std::max({bound.compute, bound.bandwidth, bound.reduction});
  const bool pipelined = std::holds_alternative<PipelinedStrategy>(scenario.strategy);
  if (!pipelined && !asynchronous) bound.step = std::max(bound.step, bound.latency);
  return bound;
}

}  // namespace stepcast
