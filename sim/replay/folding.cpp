#include "sim/replay/folding.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/collective/ring_latencies.hpp"
#include "models/describe/fault.hpp"
#include "models/fabric/fabric.hpp"
#include "models/fabric/fingerprint.hpp"
#include "models/fabric/host_specs.hpp"
#include "models/fabric/fullest_link.hpp"
#include "models/fabric/last_route.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/path_prices.hpp"
#include "models/price/shard_placement.hpp"
#include "models/scenario/foldable.hpp"

namespace stepcast {
namespace {

std::shared_ptr<const FoldedRound::Flows> fold_messages(const Round& round, Fabric& fabric, bool goes_around) {
  // Where a round goes around rings, latencies are means over whole rings.
  if (!goes_around)
    if (const FullestLink fullest = fullest_link(round, fabric); fullest.is_closed)
      return std::make_shared<FoldedRound::Flows>(
          FoldedRound::Flows{one_for_all(fullest, round, fabric), {static_cast<double>(round.front().slice.count)}});
  FlowSystem system;
  for (const Message& message : round)
    system.flows.push_back({message.from, message.to, {static_cast<double>(message.slice.count), 0.0}});
  if (goes_around)
    for (const double latency : even_latencies(round, route_latencies(round, fabric)))
      system.latencies.emplace_back(latency);
  FoldedFlows folded = fold_flows(system, fabric);
  auto flows = std::make_shared<FoldedRound::Flows>();
  for (const std::size_t flow : folded.flow) flows->blocks.push_back(round[flow].slice.count);
  flows->system = std::move(folded.quotient);
  return flows;
}

/// Rounds of one fabric. Rounds with the same messages share their flows, whichever worker adds them up.
class RoundFolder {
 public:
  RoundFolder(Fabric& fabric, const Cluster& cluster)
      : fabric_(fabric),
        costs_(host_costs(cluster)),
        is_plain_star_(is_plain_star(cluster)),
        ends_(static_cast<std::size_t>(cluster.workers)) {}

  FoldedRound operator()(const Round& round, bool goes_around) {
    const RoundLoad load = load_of(round, costs_);
    if (is_plain_star_ && are_alike(round)) return {flows_of({{0, 1, round.front().slice}}, goes_around), load};
    return {flows_of(round, goes_around), load};
  }

 private:
  /// Whether all messages have one size, and none has its sender or its receiver in common with another one. On a star
  /// they share no link, so any of them stands for all, whatever its ends.
  bool are_alike(const Round& round) {
    ++round_;
    return !round.empty() && std::all_of(round.begin(), round.end(), [&](const Message& m) {
      return m.from != m.to && m.slice.count == round.front().slice.count &&
             std::exchange(ends_[m.from].sent, round_) != round_ &&
             std::exchange(ends_[m.to].received, round_) != round_;
    });
  }

  std::shared_ptr<const FoldedRound::Flows> flows_of(const Round& round, bool goes_around) {
    auto& flows = known_[fingerprint_of(round, goes_around)];
    if (!flows) flows = fold_messages(round, fabric_, goes_around);
    return flows;
  }

  /// By rank: the last round in which it sent, and in which it received. Rounds are counted from 1.
  struct Ends {
    int sent = 0, received = 0;
  };

  Fabric& fabric_;
  HostCosts costs_;
  bool is_plain_star_;
  std::vector<Ends> ends_;
  int round_ = 0;
  std::map<Fingerprint, std::shared_ptr<const FoldedRound::Flows>> known_;
};

FoldedCollective fold_collective(const CollectiveCall& call, const Cluster& cluster, RoundFolder& fold_round) {
  const Schedule schedule = schedule_of(call, cluster.workers);
  FoldedCollective folded;
  for (const auto& [first, times] : unlike_rounds(schedule)) {
    folded.push_back(fold_round(schedule.round(first), have_mean_latency(schedule, first, cluster.ring_latency)));
    folded.back().times = times;
    folded.back().has_last = schedule.like_round(schedule.rounds - 1) == schedule.like_round(first);
  }
  return folded;
}

/// Participants and direct exchanges.
class DirectFold {
 public:
  DirectFold(const Cluster& cluster, const StepGraph& graph, Fabric& fabric)
      : cluster_(cluster), graph_(graph), fabric_(fabric), specs_(cluster) {
    const auto has = [&](ShardExchange exchange) { (exchange == ShardExchange::push ? pushes_ : pulls_) = true; };
    for (const Task& task : graph.tasks) {
      if (const auto* shards = std::get_if<ShardWork>(&task.work)) has(shards->exchange);
      if (const auto* transfer = std::get_if<ShardTransfer>(&task.work)) has(transfer->exchange);
      if (const auto* work = std::get_if<NeighbourWork>(&task.work)) neighbours_.insert(work->neighbours);
    }
  }

  void run(Fold& fold) {
    add_workers();
    add_shards();
    if (pushes_ || pulls_) add_exchanges_with_shards();
    for (const Neighbours& neighbours : neighbours_) add_exchange_with(neighbours);
    FoldedFlows folded = fold_flows(system_, fabric_);

    std::vector<int> number(participants_.size(), -1);  // within its class
    for (std::size_t i = 0; i < participants_.size(); ++i) {
      const std::size_t first = folded.alike[i];
      if (i == first) {
        number[i] = static_cast<int>(fold.participants.size());
        fold.participants.push_back(participants_[i]);
        fold.participants.back().count = folded.size[i];
        continue;
      }
      number[i] = number[first];
      std::vector<int>& all = fold.participants[number[i]].of_kind;
      std::transform(all.begin(), all.end(), participants_[i].of_kind.begin(), all.begin(), std::plus<>());
    }
    for (const std::size_t flow : folded.flow) {
      const Ends& ends = ends_[flow];
      fold.direct_flows.push_back({ends.exchange, number[ends.sender], number[ends.receiver], ends.number});
    }
    fold.direct = std::move(folded.quotient);
  }

 private:
  /// Properties that tell flows apart besides their routes and ends.
  static constexpr std::array<double, 2> colour(ShardExchange exchange) { return {static_cast<double>(exchange), 0.0}; }
  static constexpr std::array<double, 2> colour(const Neighbours& neighbours) {
    return {-1.0, static_cast<double>(neighbours.step)};
  }

  [[nodiscard]] int host_of(int shard) const {
    return shard_host(cluster_, graph_.shards, graph_.shards_co_located, shard);
  }

  /// Workers that can change places are one node. With collectives alone, all workers of one speed can. Asynchronous
  /// workers cannot: shards serve like workers one after another.
  void add_workers() {
    std::map<std::array<double, 4>, std::size_t> known;
    const std::vector<WorkerKind> kinds = worker_kinds(cluster_);
    std::size_t kind_of_rank = 0;
    std::set<int> serving;  // ranks with a shard beside them
    for (int shard = 0; graph_.shards_co_located && shard < graph_.shards; ++shard) serving.insert(host_of(shard));
    for (int rank = 0; rank < cluster_.workers; ++rank) {
      if (rank >= kinds[kind_of_rank].first + kinds[kind_of_rank].count) ++kind_of_rank;
      const HostSpec spec = specs_.of(rank);
      if (neighbours_.empty() && !graph_.asynchronous && !serving.contains(rank)) {
        std::array<double, 4> kind{spec.speed, 0.0, 0.0, 0.0};
        if (pushes_ || pulls_)
          kind = {spec.speed, spec.link.bandwidth.si(), spec.link.latency.si(),
                  static_cast<double>(fabric_.branch(rank))};
        const auto [entry, is_new] = known.try_emplace(kind, participants_.size());
        if (!is_new) {
          ++participants_[entry->second].count;
          ++participants_[entry->second].of_kind[kind_of_rank];
          continue;
        }
      }
      participants_.push_back({Role::worker, rank, 1, std::vector<int>(kinds.size())});
      ++participants_.back().of_kind[kind_of_rank];
    }
    for (const ParticipantClass& worker : participants_)
      system_.participants.push_back(
          {{0.0, specs_.of(worker.index).speed, graph_.asynchronous ? worker.index : 0.0}, worker.count});
    workers_ = participants_.size();
  }

  void add_shards() {
    for (int shard = 0; shard < graph_.shards; ++shard) {
      std::vector<double> colour{1.0};
      // An asynchronous shard has tasks of its own buckets alone. Each bucket has copies of its own before them.
      double bucket = 0;
      for (const Task& task : graph_.tasks) {
        if (std::holds_alternative<ShardCopy>(task.work)) ++bucket;
        if (const auto* serve = std::get_if<ServeWork>(&task.work)) colour.push_back(serve->time[shard].si());
        if (const auto* shards = std::get_if<ShardWork>(&task.work)) colour.push_back(shards->shard_bytes[shard].si());
        if (const auto* transfer = std::get_if<ShardTransfer>(&task.work); transfer && transfer->shard == shard)
          colour.insert(colour.end(), {bucket, transfer->bytes.si()});
        if (const auto* one = std::get_if<ShardServe>(&task.work); one && one->shard == shard)
          colour.insert(colour.end(), {one->time.si(), one->copied.si()});
      }
      participants_.push_back({Role::server, shard, 1});
      system_.participants.push_back({std::move(colour), 1});
    }
  }

  void add_exchanges_with_shards() {
    for (std::size_t worker = 0; worker < workers_; ++worker)
      for (int shard = 0; shard < graph_.shards; ++shard) {
        const std::size_t server = workers_ + static_cast<std::size_t>(shard);
        const int rank = participants_[worker].index, host = host_of(shard), size = participants_[worker].count;
        if (pushes_)
          add({ShardExchange::push, worker, server, shard},
              {rank, host, colour(ShardExchange::push), worker, server, size, true});
        if (pulls_)
          add({ShardExchange::pull, server, worker, shard},
              {host, rank, colour(ShardExchange::pull), server, worker, size, false});
      }
  }

  void add_exchange_with(const Neighbours& neighbours) {
    for (const Message& message : messages_of(neighbours, cluster_.workers)) {
      const auto sender = static_cast<std::size_t>(message.from), receiver = static_cast<std::size_t>(message.to);
      add({{}, sender, receiver, neighbours.step}, {message.from, message.to, colour(neighbours), sender, receiver});
    }
  }

  struct Ends {
    std::optional<ShardExchange> exchange;  ///< none for neighbours
    std::size_t sender, receiver;           ///< numbers in participants_
    int number;                             ///< of the shard, or of the neighbours' step
  };

  void add(const Ends& ends, const FlowSystem::Flow& flow) {
    ends_.push_back(ends);
    system_.flows.push_back(flow);
  }

  const Cluster& cluster_;
  const StepGraph& graph_;
  Fabric& fabric_;
  HostSpecs specs_;
  FlowSystem system_;
  bool pushes_ = false, pulls_ = false;
  std::set<Neighbours> neighbours_;             ///< unlike ones: several messages of one step share their flows
  std::vector<ParticipantClass> participants_;  ///< beside the system's
  std::size_t workers_ = 0;
  std::vector<Ends> ends_;  ///< by flow
};

}  // namespace

Fold fold(const Cluster& cluster, const StepGraph& graph) {
  Fabric fabric(cluster, graph.shards_co_located ? 0 : graph.shards);
  Fold fold;
  DirectFold(cluster, graph, fabric).run(fold);
  RoundFolder fold_round(fabric, cluster);
  for (const Task& task : graph.tasks)
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) {
      const auto [entry, is_new] = fold.collectives.try_emplace(key_of(collective->call));
      if (is_new) entry->second = fold_collective(collective->call, cluster, fold_round);
    }
  return fold;
}

std::optional<std::string> folding_refusal(const Scenario& scenario, const StepGraph& graph) {
  if (auto refusal = folding_refusal(scenario)) return refusal;
  bool any_collective = false, any_direct = false;
  for (const Task& task : graph.tasks) {
    if (std::holds_alternative<CollectiveWork>(task.work)) any_collective = true;
    any_direct =
        any_direct || std::holds_alternative<ShardWork>(task.work) || std::holds_alternative<NeighbourWork>(task.work);
  }
  if (graph.asynchronous && any_collective) return "machines that add up gradients each have a time of their own";
  if (graph.in_flight != kNoStream || (any_collective && any_direct))
    return "a collective may share links with other communication";
  if (scenario.cluster.jitter.cv > 0 && !any_collective && !graph.asynchronous) return kUnlike;
  return {};
}

FidelityDecision decide_fidelity(const Scenario& scenario, const StepGraph& graph) {
  if (scenario.evaluation.fidelity == Fidelity::full) return {};
  const auto refusal = folding_refusal(scenario, graph);
  if (refusal && scenario.evaluation.fidelity == Fidelity::folded)
    throw ModelError(fmt::format("the replay cannot be folded exactly: {}; use --fidelity full", *refusal));
  if (refusal) return {false, *refusal};
  constexpr double kFewest = 64, kMostCounted = 1 << 18;
  const double messages = direct_messages(scenario, graph);
  if (scenario.evaluation.fidelity == Fidelity::folded) return {true, ""};
  if (graph.asynchronous || messages < kFewest || messages > kMostCounted) return {true, ""};
  FidelityDecision decision{true, "", fold(scenario.cluster, graph)};
  const double all = messages * (graph.shards > 0 ? 2 : 1),
               left = static_cast<double>(decision.fold->direct_flows.size());
  if (3 * left > 2 * all) return {false, fmt::format("folding would leave {} of {} messages", left, all)};
  return decision;
}

double direct_messages(const Scenario& scenario, const StepGraph& graph) {
  const double p = scenario.cluster.workers;
  double neighbours = 0;
  for (const Task& task : graph.tasks) {
    if (std::holds_alternative<ShardWork>(task.work) || std::holds_alternative<ShardTransfer>(task.work))
      return p * graph.shards;
    if (const auto* work = std::get_if<NeighbourWork>(&task.work))
      neighbours += static_cast<double>(message_count(work->neighbours, scenario.cluster.workers));
  }
  return neighbours;
}

}  // namespace stepcast
