#include "sim/answer/replay_messages.hpp"

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/equation/exactness.hpp"
#include "models/fabric/machines.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/strategy/builder.hpp"
#include "sim/replay/arrivals.hpp"
#include "sim/replay/folding.hpp"

namespace stepcast {
namespace {

/// Workers that choose a neighbour in each of their steps.
double choosers_of(const PairWork& pair, const Scenario& scenario) {
  const std::vector<bool> choose = choosing_ranks(pair.neighbours, pair.choosers, scenario.cluster.workers).value();
  return static_cast<double>(std::count(choose.begin(), choose.end(), true));
}

bool has_steady_state(const Scenario& scenario) {
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  return !is_random(scenario) && !(server && server->consistency != Consistency::synchronous);
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

/// Steps of the mean asynchronous worker for each step of the slowest, or for each update with backup workers. It is 1
/// if servers or links keep all waiting, and the ratio of speeds if only computing counts. The estimate is the middle of
/// both.
double steps_of_slowest(const Cluster& cluster, const StepGraph& graph) {
  if (graph.staleness || graph.first_pushes) return 1;
  const WorkerSpeeds speeds = worker_speeds(cluster);
  return (1 + speeds.sum / cluster.workers / speeds.slowest) / 2;
}

}  // namespace

double replay_messages(const Scenario& scenario, const StepGraph& graph) {
  const double p = scenario.cluster.workers, direct = direct_messages(scenario, graph);
  double in_rounds = 0, with_shards = 0;
  MessageCounts messages(scenario.cluster.workers);
  for (const Task& task : graph.tasks) {
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) in_rounds += messages.of(collective->call);
    else if (const auto* exchange = std::get_if<NeighbourWork>(&task.work))
      in_rounds += static_cast<double>(message_count(exchange->neighbours, scenario.cluster.workers));
    else if (const auto* pair = std::get_if<PairWork>(&task.work)) in_rounds += 2.0 * choosers_of(*pair, scenario);
    else if (std::holds_alternative<ShardWork>(task.work)) with_shards += direct;
    else if (std::holds_alternative<ShardTransfer>(task.work)) with_shards += p;
  }
  if (graph.asynchronous) with_shards *= steps_of_slowest(scenario.cluster, graph);
  const bool converges = with_shards > 0 && traits(scenario.cluster.topology).servers_settle_slowly;
  const double steps = !has_steady_state(scenario) ? scenario.evaluation.max_steps
                       : converges                 ? kStepsToConvergence
                                                   : kStepsToSteadyState;
  return runs_of(scenario) * steps * (in_rounds + with_shards);
}

std::string refuse_long_replay(const Scenario& scenario, const StepGraph& graph) {
  const double p = scenario.cluster.workers;
  double messages = 0;
  // Messages to asynchronous shards all count, since nobody knows yet how many of the shards are alike.
  if (graph.asynchronous || folding_refusal(scenario, graph)) {
    messages = replay_messages(scenario, graph);
  } else {
    std::map<CallKey, double> unlike;
    for (const Task& task : graph.tasks)
      if (const auto* collective = std::get_if<CollectiveWork>(&task.work))
        unlike.try_emplace(key_of(collective->call), unlike_messages(collective->call, scenario.cluster.workers));
    for (const auto& [call, count] : unlike) messages += count;
    if (are_arrivals(scenario, graph))
      messages += runs_of(scenario) * p * scenario.evaluation.max_steps * static_cast<double>(graph.tasks.size()) /
                  kTasksOfMessage;
    messages += direct_messages(scenario, graph);
  }
  if (messages <= kMostReplayed) return "";
  return fmt::format(
      "the equations have no answer here, and a replay of {} workers has about {:.2g} million messages, more than the "
      "{:.0f} million that evaluator auto starts; {}, --evaluator replay starts it anyway",
      p, messages / 1e6, kMostReplayed / 1e6, advice(scenario));
}

}  // namespace stepcast
