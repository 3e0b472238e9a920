#include "models/equation/exactness.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"
#include "models/equation/evaluate.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/path_prices.hpp"
#include "models/price/shard_prices.hpp"

namespace stepcast {
namespace {

// Ranges that tests/sim/auto_test.cpp checks over random steps: it found 0.53 .. 1.98 for servers. The equations let
// unequal shards serve in turn: horovod-2017's ResNet-101 gave 0.15 with host_cost 1 ns/B. For gossip on a ring,
// tests/sim/gossip_replay_test.cpp found 0.9.
constexpr double kServersLeast = 0.33, kServersMost = 2.2, kUnequalLeast = 0.1, kGossipLeast = 0.8, kGossipMost = 1.2;
// Where neighbours change by step, workers that are ahead meet the messages of other steps: 86 random cases of a review
// found 0.79 .. 1.72. Other graphs than the ring: gossip_replay_test found 0.74.
constexpr double kGraphLeast = 0.5, kGraphMost = 1.5, kChangingLeast = 0.4, kChangingMost = 2.5;

Exactness of_servers(const ParameterServerStrategy& server, const Cluster& cluster, const StepGraph& graph) {
  const auto pushes = std::count_if(graph.tasks.begin(), graph.tasks.end(), [](const Task& task) {
    const auto* shards = std::get_if<ShardWork>(&task.work);
    return shards && shards->exchange == ShardExchange::push;
  });
  std::vector<std::string> why;
  const bool unequal = server.balance == ShardBalance::greedy && server.shards > 1;
  const bool exact = !unequal && shard_terms_are_exact(cluster, graph.shards, graph.shards_co_located,
                                                       server.duplex ? static_cast<int>(pushes) : 1);
  if (unequal) why.emplace_back("as if all shards were as late as the largest");
  const bool sums = std::any_of(graph.tasks.begin(), graph.tasks.end(),
                                [](const Task& task) { return std::holds_alternative<CollectiveWork>(task.work); });
  if (sums && pushes > 1) why.emplace_back("as if sums inside machines met no other messages");
  if (!exact || !workers_are_alike(cluster))
    why.emplace_back("as if all workers pushed at once, and no push met a pull");
  const HostCosts costs = host_costs(cluster);
  if (graph.shards_co_located && costs.any() &&
      ((graph.shards > 1 && graph.shards < cluster.workers) || costs.differ()))
    why.emplace_back("as if workers beside a shard copied as much as others");
  const bool followed = !unequal && shards_can_be_followed(cluster, graph.shards);
  if (!exact && !followed && !direct_prices_are_exact(cluster))
    why.emplace_back(traits(cluster.topology).has_inner_hops ? "from hosts' links alone, without those between switches"
                                                             : "from its busiest links and longest routes");
  if (why.empty()) return {};
  return {fmt::format("{}", fmt::join(why, ", and ")), unequal ? kUnequalLeast : kServersLeast, kServersMost};
}

/// Whether islands compute on while an average of local SGD travels.
bool averages_meet_islands(const Strategy& strategy) {
  const auto* local = std::get_if<LocalSgdStrategy>(&strategy);
  return local && local->islands && local->averaging_steps > 0;
}

/// The rate of averages over what they leave of a GPU's own link, which messages of steps use too, if each island is a
/// machine of such links; else nothing.
std::optional<double> taken_by_averages(const Islands& islands, const Cluster& cluster) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  if (!nodes || nodes->gpus_per_node != islands.size || host_costs(cluster).any()) return {};
  const double inner = nodes->inner.bandwidth.si(), nic = cluster.link.bandwidth.si();
  return inner >= 2 * nic ? std::optional(nic / (inner - nic)) : std::nullopt;
}

/// Averages in flight, or exchanges with neighbours, and messages inside islands meet on links. They delay a round by the
/// time of the shorter ones at most: 1,000 random cases like those of tests/sim/auto_test.cpp found no more. Where islands
/// are machines, a NIC limits averages: they take little of the links inside.
Exactness of_messages_in_flight(const char* what, const Islands& islands, const StepGraph& graph,
                                const ClusterPrices& prices) {
  Seconds steps{}, averages{}, gathers{};  // of a round
  for (const Task& task : graph.tasks) {
    const auto* work = std::get_if<CollectiveWork>(&task.work);
    if (!work && !std::holds_alternative<NeighbourWork>(task.work)) continue;
    const Seconds time = communication_price(task.work, graph, prices).total();
    if (task.worker_stream != graph.in_flight) steps += time;
    else (work && work->call.among.stride == 1 ? gathers : averages) += time;
  }
  const auto taken = taken_by_averages(islands, prices.cluster());
  const Seconds all = averages + gathers, delay = std::min({steps, all, taken ? steps * *taken + gathers : all});
  const Seconds round = evaluate(graph, prices).step * static_cast<double>(graph.local_steps);
  return {fmt::format("as if {} met no messages of islands", what), 1, 1 + delay / round};
}

/// As if all workers exchanged with their neighbours at once.
Exactness of_neighbours(NeighbourGraph neighbours, const StepGraph& graph, const ClusterPrices& prices) {
  const bool exact = std::all_of(graph.tasks.begin(), graph.tasks.end(), [&](const Task& task) {
    const auto* work = std::get_if<NeighbourWork>(&task.work);
    return !work || prices.neighbours_are_exact(work->neighbours);
  });
  if (exact) return {};
  const char* why = "as if all workers exchanged at once";
  if (graph.local_steps > 1) return {why, kChangingLeast, kChangingMost};
  return neighbours == NeighbourGraph::ring ? Exactness{why, kGossipLeast, kGossipMost}
                                            : Exactness{why, kGraphLeast, kGraphMost};
}

Exactness of_collectives(const StepGraph& graph, const ClusterPrices& prices) {
  const StepRange range = step_range(graph, prices);
  if (range.low == range.high) return {};
  return {"from bounds on rounds with many unlike messages", range.low / range.middle, range.high / range.middle};
}

/// Both at once.
Exactness joined(const Exactness& one, const Exactness& other) {
  if (one.why.empty() || other.why.empty()) return one.why.empty() ? other : one;
  return {fmt::format("{}, and {}", one.why, other.why), one.least * other.least, one.most * other.most};
}

Exactness of_gossip(const GossipStrategy& gossip, const StepGraph& graph, const ClusterPrices& prices) {
  Exactness all = of_neighbours(gossip.graph, graph, prices);
  if (graph.in_flight != kNoStream)
    all = joined(of_messages_in_flight("exchanges with neighbours", *gossip.islands, graph, prices), all);
  return prices_are_exact(prices.cluster()) ? all : joined(all, of_collectives(graph, prices));
}

/// To one significant digit.
double rounded_up(double value) {
  const double unit = value > 0 ? std::pow(10, std::floor(std::log10(value))) : 1;
  return std::ceil(value / unit - 1e-9) * unit;
}

}  // namespace

std::string text_of(const Exactness& exactness) {
  if (exactness.why.empty()) return "";
  if (exactness.is_within(kAutoWithin))
    return fmt::format("{}: a replay's step is within {:.1g} % of this one", exactness.why,
                       rounded_up(100 * std::max(1 - exactness.least, exactness.most - 1)));
  if (exactness.least == 1)
    return fmt::format("{}: a replay's step is up to {:.1f} % longer", exactness.why, 100 * (exactness.most - 1));
  return fmt::format("{}: a replay's step is {:.2g} to {:.2g} times this one", exactness.why, exactness.least,
                     exactness.most);
}

Exactness exactness_of(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices) {
  const Cluster& cluster = scenario.cluster;
  if (const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy))
    return of_servers(*server, cluster, graph);
  if (const auto* gossip = std::get_if<GossipStrategy>(&scenario.strategy)) return of_gossip(*gossip, graph, prices);
  Exactness priced = prices_are_exact(cluster) ? Exactness{} : of_collectives(graph, prices);
  if (!averages_meet_islands(scenario.strategy)) return priced;
  return joined(of_messages_in_flight("averages in flight", *islands_of(scenario.strategy), graph, prices), priced);
}

std::string only_replayed(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  if (std::holds_alternative<SimGridXml>(cluster.topology)) return "a platform file, which only SimGrid knows";
  if (std::holds_alternative<TcpTransport>(cluster.transport)) return "TCP effects, which equations have no word for";
  if (cluster.jitter.cv > 0) return "jitter";
  if (scenario.codec.sharing == GpuSharing::fair) return "kernels that share a GPU";
  if (meets_by_chance(scenario.strategy)) return "pairs that meet by chance";
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  return server && server->consistency != Consistency::synchronous ? "the order of pushes" : "";
}

bool exchanges_by_collectives(const Scenario& scenario) {
  return !averages_meet_islands(scenario.strategy) &&
         !std::holds_alternative<ParameterServerStrategy>(scenario.strategy) &&
         !std::holds_alternative<GossipStrategy>(scenario.strategy);
}

std::optional<Evaluators> evaluators_of(const Scenario& scenario) {
  switch (scenario.evaluation.evaluator) {
    case Evaluator::equations: return Evaluators{.equations = true};
    case Evaluator::replay: return Evaluators{.replay = true};
    case Evaluator::both: return Evaluators{true, true};
    case Evaluator::automatic: break;
  }
  if (!only_replayed(scenario).empty()) return Evaluators{.replay = true};
  if (exchanges_by_collectives(scenario) && prices_are_exact(scenario.cluster)) return Evaluators{.equations = true};
  return {};
}

Evaluators evaluators_of(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices) {
  if (const auto known = evaluators_of(scenario)) return *known;
  const bool equations = exactness_of(scenario, graph, prices).is_within(kAutoWithin);
  return {equations, !equations};
}

}  // namespace stepcast
