#include "sim/study/replay_effort.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/check.hpp"
#include "models/strategy/builder.hpp"
#include "sim/replay/fidelity.hpp"

namespace stepcast {
namespace {

constexpr double kRoundMessage = 1 / 3e5;
constexpr double kShardMessage = 4e-6, kShardMessagePerWorker = 0.2e-6;

bool has_steady_state(const Scenario& scenario) {
  const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy);
  return scenario.cluster.jitter.cv == 0 && !(server && server->consistency != Consistency::synchronous);
}

bool equations_answer(Scenario scenario) {
  scenario.evaluation.evaluator = Evaluator::equations;
  std::vector<Fault> faults;
  check(scenario, faults);
  return faults.empty();
}

std::string advice(const Scenario& scenario) {
  if (equations_answer(scenario)) return "--evaluator equations answers at once";
  std::vector<std::string> fewer;
  const auto add = [&](const char* what, int count) {
    if (count > 1) fewer.push_back(fmt::format("{} (now {})", what, count));
  };
  if (!has_steady_state(scenario)) add("/evaluation/max_steps", scenario.evaluation.max_steps);
  add("/evaluation/runs", runs_of(scenario));
  if (const auto* server = std::get_if<ParameterServerStrategy>(&scenario.strategy)) add("/strategy/shards", server->shards);
  add("/cluster/workers", scenario.cluster.workers);
  return fmt::format("equations cannot answer it; less of {} shortens it", fmt::join(fewer, " or "));
}

/// Messages of each collective of a graph, whose calls are often alike but for their bytes.
class MessageCounts {
 public:
  explicit MessageCounts(int workers) : workers_(workers) {}

  double of(const CollectiveCall& call) {
    const auto [entry, is_new] = known_.try_emplace({call.algorithm, call.parameters.group_size, call.parameters.segments});
    if (is_new) entry->second = static_cast<double>(message_count(call.algorithm->schedule(workers_, call.parameters)));
    return entry->second;
  }

 private:
  int workers_;
  std::map<std::tuple<const CollectiveAlgorithm*, int, int>, double> known_;
};

}  // namespace

ReplayEffort replay_effort(const Scenario& scenario) {
  const StepGraph graph = build_step_graph(scenario, make_workload(scenario));
  if (decide_fidelity(scenario, graph).folds) return {};
  const double p = scenario.cluster.workers;
  double in_rounds = 0, with_shards = 0;
  MessageCounts messages(scenario.cluster.workers);
  for (const Task& task : graph.tasks) {
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) in_rounds += messages.of(collective->call);
    else if (const auto* direct = std::get_if<DirectWork>(&task.work); direct && direct->pattern == DirectWork::Pattern::neighbours) in_rounds += 2 * p;
    else if (direct) with_shards += p * static_cast<double>(direct->shard_bytes.size());
    else if (std::holds_alternative<ShardTransfer>(task.work)) with_shards += p;
  }
  const double steps = runs_of(scenario) * (has_steady_state(scenario) ? kStepsToSteadyState : scenario.evaluation.max_steps);
  return {steps * (in_rounds + with_shards), steps * (in_rounds * kRoundMessage + with_shards * (kShardMessage + p * kShardMessagePerWorker))};
}

std::string announce_long_replays(const Study& study) {
  constexpr double kLong = 5;  // seconds
  ReplayEffort all;
  double longest = 0;
  const Scenario* longest_one = nullptr;
  for (const StudyPoint& point : study.points) {
    if (point.scenario.evaluation.evaluator == Evaluator::equations) continue;
    const ReplayEffort one = replay_effort(point.scenario);
    all.messages += one.messages;
    all.seconds += one.seconds;
    if (one.seconds > longest) {
      longest = one.seconds;
      longest_one = &point.scenario;
    }
  }
  if (all.seconds <= kLong) return "";
  return fmt::format("replaying about {:.2g} million messages, some {:.0f} s on one core; {}", all.messages / 1e6, all.seconds, advice(*longest_one));
}

}  // namespace stepcast
