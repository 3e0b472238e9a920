#include "sim/answer/replay_effort.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/fabric/machines.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/asked.hpp"
#include "sim/replay/fidelity.hpp"

namespace stepcast {
namespace {

constexpr double kRoundMessage = 1 / 3e5;

bool has_steady_state(const Scenario& scenario) {
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  return scenario.cluster.jitter.cv == 0 && !(server && server->consistency != Consistency::synchronous);
}

std::string advice(const Scenario& scenario) {
  if (only_replayed(scenario).empty()) return "--evaluator equations answers at once";
  std::vector<std::string> fewer;
  const auto add = [&](const char* what, int count) {
    if (count > 1) fewer.push_back(fmt::format("{} (now {})", what, count));
  };
  if (!has_steady_state(scenario)) add("/evaluation/max_steps", scenario.evaluation.max_steps);
  add("/evaluation/runs", runs_of(scenario));
  if (const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy))
    add("/strategy/shards", server->shards);
  add("/cluster/workers", scenario.cluster.workers);
  return fmt::format("equations cannot answer it; less of {} shortens it", fmt::join(fewer, " or "));
}

/// Messages of each collective of a graph. Many calls differ in their bytes alone.
class MessageCounts {
 public:
  explicit MessageCounts(int workers) : workers_(workers) {}

  double of(const CollectiveCall& call) {
    const auto [entry, is_new] = known_.try_emplace(key_of(call));
    if (is_new) entry->second = static_cast<double>(message_count(schedule_of(call, workers_)));
    return entry->second;
  }

 private:
  int workers_;
  std::map<CallKey, double> known_;
};

/// The effort to fold NCCL's trees, once for calls that are alike.
ReplayEffort folding_effort(const StepGraph& graph, int workers) {
  std::map<CallKey, double> messages;
  for (const Task& task : graph.tasks) {
    const auto* collective = std::get_if<CollectiveWork>(&task.work);
    if (!collective || collective->call.algorithm->algorithm != Algorithm::nccl_tree) continue;
    const CollectiveCall& call = collective->call;
    const int p = call.among.size(workers), segments = call.parameters.segments;
    const int places = call.algorithm->schedule(p, call.parameters).rounds - segments + 1;
    // Each segment passes p - 1 edges of the two trees of each pair, both ways. A pipeline longer than its places stays
    // full.
    messages[key_of(call)] =
        4.0 * call.parameters.rings * (p - 1) * call.among.count(workers) * std::min(segments, places);
  }
  ReplayEffort effort;
  for (const auto& [key, count] : messages) effort.messages += count;
  effort.seconds = effort.messages * 0.6e-6 * (1 + workers / 28000.0);
  return effort;
}

/// Steps of the mean asynchronous worker for each step of the slowest. It is 1 if servers or links keep all waiting,
/// and the ratio of speeds if only computing counts. The estimate is the middle of both.
double steps_of_slowest(const Cluster& cluster, const StepGraph& graph) {
  if (graph.staleness) return 1;
  const WorkerSpeeds speeds = worker_speeds(cluster);
  return (1 + speeds.sum / cluster.workers / speeds.slowest) / 2;
}

/// Seconds for a message to or from a shard.
/// @param flows  of one push
double shard_message(const Scenario& scenario, const StepGraph& graph, double flows) {
  const Cluster& cluster = scenario.cluster;
  const double p = cluster.workers;
  if (!graph.asynchronous)
    return std::holds_alternative<Torus>(cluster.topology) ? 4e-6 + 0.1e-6 * flows : 2e-6 + 0.1e-6 * p;
  if (!graph.shards_co_located && !has_inner_hops(cluster)) return 4e-6 + 0.33e-6 * p;
  const bool in_step = graph.shards == cluster.workers && cluster.jitter.cv == 0 && !has_inner_hops(cluster);
  return 5e-6 + (in_step ? 0.05e-6 : 0.14e-6) * p * graph.shards;
}

}  // namespace

ReplayEffort replay_effort(const Scenario& scenario, const StepGraph& graph) {
  const FidelityDecision fidelity = decide_fidelity(scenario, graph);
  const double p = scenario.cluster.workers, direct = direct_messages(scenario, graph);
  const bool torus = std::holds_alternative<Torus>(scenario.cluster.topology);
  // A folded replay takes little time, unless most of its messages are left.
  if (fidelity.folds && !(torus && graph.shards > 0)) return folding_effort(graph, scenario.cluster.workers);
  const double flows = fidelity.fold ? static_cast<double>(fidelity.fold->direct_flows.size()) / 2 : direct;
  double in_rounds = 0, with_shards = 0;
  MessageCounts messages(scenario.cluster.workers);
  for (const Task& task : graph.tasks) {
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) in_rounds += messages.of(collective->call);
    else if (std::holds_alternative<NeighbourWork>(task.work)) in_rounds += 2 * p;
    else if (std::holds_alternative<ShardWork>(task.work)) with_shards += flows;
    else if (std::holds_alternative<ShardTransfer>(task.work)) with_shards += p;
  }
  if (graph.asynchronous) with_shards *= steps_of_slowest(scenario.cluster, graph);
  const double steps = runs_of(scenario) * (!has_steady_state(scenario) ? scenario.evaluation.max_steps
                                            : torus && with_shards > 0  ? kStepsToConvergence
                                                                        : kStepsToSteadyState);
  return {steps * (in_rounds + with_shards),
          steps * (in_rounds * kRoundMessage + with_shards * shard_message(scenario, graph, flows))};
}

std::string refuse_long_replay(const Scenario& scenario, const StepGraph& graph) {
  const double p = scenario.cluster.workers;
  double messages = 0;
  if (folding_refusal(scenario, graph)) {
    messages = replay_effort(scenario, graph).messages;
  } else {
    std::map<CallKey, double> unlike;
    for (const Task& task : graph.tasks)
      if (const auto* collective = std::get_if<CollectiveWork>(&task.work))
        unlike.try_emplace(key_of(collective->call), unlike_messages(collective->call, scenario.cluster.workers));
    for (const auto& [call, count] : unlike) messages += count;
    messages += direct_messages(scenario, graph);
  }
  if (messages <= kMostReplayed) return "";
  return fmt::format(
      "the equations have no answer here, and a replay of {} workers has about {:.2g} million messages, more than the "
      "{:.0f} million that evaluator auto starts; {}, --evaluator replay starts it anyway",
      p, messages / 1e6, kMostReplayed / 1e6, advice(scenario));
}

std::string announce_long_replays(const Study& study) {
  constexpr double kLong = 5;  // seconds
  ReplayEffort all;
  double longest = 0;
  const Scenario* longest_one = nullptr;
  AskedEvaluators evaluators;
  for (const StudyPoint& point : study.points) {
    const Asked asked = evaluators.of(point.scenario);
    if (!asked.evaluators.replay || !asked.refusal.empty()) continue;
    ReplayEffort one;
    try {
      one = replay_effort(point.scenario, build_step_graph(point.scenario, make_workload(point.scenario)));
    } catch (const std::exception&) {
      continue;  // its answer gives the reason
    }
    all.messages += one.messages;
    all.seconds += one.seconds;
    if (one.seconds > longest) {
      longest = one.seconds;
      longest_one = &point.scenario;
    }
  }
  if (all.seconds <= kLong) return "";
  return fmt::format("replaying about {:.2g} million messages, some {:.0f} s on one core; {}", all.messages / 1e6,
                     all.seconds, advice(*longest_one));
}

}  // namespace stepcast
