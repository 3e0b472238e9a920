#include "sim/answer/sweep_plan.hpp"

#include <algorithm>
#include <map>

#include "sim/answer/asked.hpp"
#include "sim/answer/replay_key.hpp"

namespace stepcast {

SweepPlan plan_sweep(const Study& study, Shard shard, const std::string& program) {
  SweepPlan plan;
  ReplayKeys keys(program);
  std::map<Digest, std::size_t> known;
  AskedEvaluators asked;
  const auto ask = [&](const Scenario& scenario) {
    const Asked answering = asked.of(scenario);
    if (!answering.refusal.empty()) plan.points.back().refusal = answering.refusal;
    if (!answering.evaluators.replay || !answering.refusal.empty()) return kNone;
    const Digest key = keys.key(scenario);
    const auto [entry, is_new] = known.try_emplace(key, plan.questions.size());
    if (is_new) plan.questions.push_back({&scenario, key});
    return entry->second;
  };
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    if (shard_of(i, shard.count) != shard.index) continue;
    const StudyPoint& point = study.points[i];
    plan.points.push_back({i, {}, ""});
    for (const Scenario* scenario : questions_of(point)) plan.points.back().replays.push_back(ask(*scenario));
  }
  return plan;
}

std::vector<SweepTask> list_tasks(const SweepPlan& plan, const std::vector<bool>& answered) {
  std::vector<SweepTask> tasks;
  std::vector<bool> asked = answered;
  const std::size_t size = block_size(static_cast<std::size_t>(std::count_if(
      plan.points.begin(), plan.points.end(), [](const PlannedPoint& point) { return point.by_equations(); })));
  std::vector<std::size_t> block;
  const auto close_block = [&] {
    if (!block.empty()) tasks.push_back({kNone, 0, std::move(block)});
    block.clear();
  };
  const auto ask = [&](std::size_t question) {
    if (question == kNone || asked[question]) return;
    asked[question] = true;
    for (int run = 0; run < runs_of(*plan.questions[question].scenario); ++run) tasks.push_back({question, run, {}});
  };
  for (std::size_t at = 0; at < plan.points.size(); ++at) {
    const PlannedPoint& point = plan.points[at];
    if (point.by_equations()) {
      block.push_back(at);
      if (block.size() == size) close_block();
    }
    for (const std::size_t question : point.replays) ask(question);
  }
  close_block();
  return tasks;
}

}  // namespace stepcast
