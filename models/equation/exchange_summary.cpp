#include "models/equation/exchange_summary.hpp"

#include <cmath>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/equation/evaluate.hpp"
#include "models/equation/exactness.hpp"
#include "models/equation/unfolded_graph.hpp"

namespace stepcast {
namespace {

/// The workers that take part in a call, if not all.
std::string scope_of(const Communicators& among) {
  if (among.is_one()) return "";
  return among.stride == 1 ? fmt::format(" inside groups of {}", among.members)
                           : fmt::format(" between {} groups", among.members);
}

bool has_segments(const CollectiveCall& call) {
  const Algorithm pipelined =
      call.algorithm->algorithm == Algorithm::hierarchical ? call.parameters.between_groups : call.algorithm->algorithm;
  return pipelined == Algorithm::double_binary_tree || pipelined == Algorithm::nccl_tree;
}

/// The exchange order of halving-doubling, if it is not the usual one.
std::string_view order_of(const CollectiveParameters& parameters) {
  return parameters.exchange_order == ExchangeOrder::near_first ? std::string_view{}
                                                                : name_of(parameters.exchange_order);
}

/// The call's algorithm with its parameters; "{}" stands for the number of segments.
std::string describe(const CollectiveCall& call) {
  const std::string_view name = name_of(call.algorithm->algorithm);
  const std::string scope = scope_of(call.among);
  const CollectiveParameters& parameters = call.parameters;
  switch (call.algorithm->algorithm) {
    case Algorithm::hierarchical:
      return fmt::format("{} (groups of {}, {}{}{} between{}){}", name, parameters.group_size,
                         name_of(parameters.between_groups), order_of(parameters).empty() ? "" : " ",
                         order_of(parameters), has_segments(call) ? ", {}" : "", scope);
    case Algorithm::halving_doubling:
      if (order_of(parameters).empty()) return fmt::format("{}{}", name, scope);
      return fmt::format("{} ({}){}", name, order_of(parameters), scope);
    case Algorithm::double_binary_tree: return fmt::format("{} ({{}}){}", name, scope);
    case Algorithm::nccl_tree:
      return fmt::format("{} ({} pair{} of trees, {{}}){}", name, parameters.rings, parameters.rings == 1 ? "" : "s",
                         scope);
    case Algorithm::multi_ring:
      return fmt::format("{} ({} ring{}){}", name, parameters.rings, parameters.rings == 1 ? "" : "s", scope);
    default: return fmt::format("{}{}", name, scope);
  }
}

/// Collects calls. Those that differ in their segments and protocols only are one.
class AlgorithmUses {
 public:
  AlgorithmUses(const Cluster& cluster, std::map<std::string, AlgorithmUse>& all) : cluster_(cluster), all_(all) {}

  void add(const CollectiveCall& call) {
    if (!latest_ || key_of(*latest_) != key_of(call)) use_ = &all_[describe(call)];
    latest_ = &call;
    if (has_segments(call)) use_->segments.add(call.parameters.segments);
    if (!cluster_.protocols.empty() && call.among.size(cluster_.workers) > 1)
      use_->protocols[call.protocol] = cluster_.protocols[call.protocol].name;
  }

 private:
  const Cluster& cluster_;
  std::map<std::string, AlgorithmUse>& all_;
  const CollectiveCall* latest_ = nullptr;
  AlgorithmUse* use_ = nullptr;  ///< of the latest call
};

/// A platform file's links are not known here, nor what rounds of too many messages take.
bool can_be_priced(const Work& work, const StepGraph& graph, const ClusterPrices& prices) {
  if (graph.asynchronous || std::holds_alternative<SimGridXml>(prices.cluster().topology)) return false;
  const auto* collective = std::get_if<CollectiveWork>(&work);
  return !collective || std::isfinite(prices.slack(collective->call).si());
}

/// Bytes and time of a communication task.
struct Exchanged {
  Bytes sent{};
  std::optional<Seconds> time{};  ///< empty where equations cannot tell
};

Exchanged exchanged_by(const Work& work, const StepGraph& graph, const ClusterPrices& prices) {
  Exchanged all{communication_terms(work, graph, prices).sent, {}};
  if (can_be_priced(work, graph, prices)) all.time = communication_price(work, graph, prices).total();
  return all;
}

}  // namespace

std::string text_of(const std::map<std::string, AlgorithmUse>& algorithms) {
  std::vector<std::string> all;
  for (const auto& [text, use] : algorithms) {
    all.push_back(text);
    if (use.segments.ends) {
      const auto [least, most] = *use.segments.ends;
      all.back().replace(text.find("{}"), 2,
                         least == most ? fmt::format("{} segment{}", most, most == 1 ? "" : "s")
                                       : fmt::format("{} to {} segments", least, most));
    }
    std::vector<std::string> protocols;
    for (const auto& [number, name] : use.protocols) protocols.push_back(name);
    if (!protocols.empty()) all.back() += fmt::format(" by {}", fmt::join(protocols, " and "));
  }
  return fmt::format("{}", fmt::join(all, "+"));
}

ExchangeSummary summarise(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices,
                          const UnfoldedGraph* unfolded) {
  ExchangeSummary all;
  // Nobody asks of a replay how good the equations were.
  if (scenario.evaluation.evaluator != Evaluator::replay && only_replayed(scenario).empty())
    all.estimate = text_of(exactness_of(scenario, graph, prices));
  AlgorithmUses uses(prices.cluster(), all.algorithms);
  std::vector<Exchanged> known(graph.tasks.size());
  const auto add = [&](std::size_t i) {
    const Task& task = graph.tasks[i];
    // Negotiation is no part of the exchange alone: it goes on beside other exchanges.
    if (task.phase != Phase::exchange || std::holds_alternative<NegotiationWork>(task.work)) return;
    const std::size_t like = unfolded ? unfolded->first_like(i) : i;
    if (like == i) known[i] = exchanged_by(task.work, graph, prices);
    const auto& [sent, time] = known[like];
    const auto* shards = std::get_if<ShardWork>(&task.work);
    const bool pull = shards && shards->exchange == ShardExchange::pull;
    if (!pull) all.sent += sent;  // a worker receives what shards send
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) {
      all.size += collective->call.bytes;
      if (like == i) {  // an equal call adds nothing
        uses.add(collective->call);
        all.operations.insert(collective->call.algorithm->operation);
      }
    } else if (const auto* exchange = std::get_if<NeighbourWork>(&task.work)) {
      all.size += exchange->bytes;
    } else if (const auto* pair = std::get_if<PairWork>(&task.work)) {
      all.size += pair->bytes;
    } else if (shards && !pull) {
      for (const Bytes bytes : shards->shard_bytes) all.size += bytes;
    } else if (const auto* transfer = std::get_if<ShardTransfer>(&task.work);
               transfer && transfer->exchange == ShardExchange::push) {
      all.size += transfer->bytes;
    }
    if (all.time && time) *all.time += *time;
    else all.time.reset();
  };
  if (unfolded) std::for_each(unfolded->communication().begin(), unfolded->communication().end(), add);
  else
    for (std::size_t i = 0; i < graph.tasks.size(); ++i) add(i);
  const double share = 1.0 / graph.local_steps;
  all.size *= share;
  all.sent *= share;
  if (all.time) *all.time *= share;
  return all;
}

}  // namespace stepcast
