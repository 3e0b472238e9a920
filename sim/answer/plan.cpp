#include "sim/answer/plan.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "sim/answer/asked.hpp"

namespace stepcast {

AnswerPlan::AnswerPlan(std::span<const StudyPoint> all, Shard shard, std::string program) : keys_(std::move(program)) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (shard_of(i, shard.count) == shard.index) points.push_back({i});
}

void AnswerPlan::foresee(std::span<const StudyPoint> all) {
  AskedEvaluators asked;
  for (PlannedPoint& point : points)
    for (const Scenario* scenario : questions_of(all[point.index])) {
      const Asked answering = asked.of(*scenario);
      if (!answering.refusal.empty()) point.refusal = answering.refusal;
      else if (answering.evaluators.replay) replay(point, *scenario);
    }
}

void AnswerPlan::replay(PlannedPoint& point, const Scenario& scenario) {
  try {
    const Digest key = keys_.key(scenario);
    const auto [entry, is_new] = known_.try_emplace(key, questions.size());
    if (is_new) questions.push_back({&scenario, key});
    point.replays[&scenario] = entry->second;
  } catch (const std::runtime_error& error) {  // a platform file may be gone
    point.refusal = error.what();
  }
}

std::vector<AnswerTask> list_tasks(const AnswerPlan& plan, const std::vector<bool>& answered) {
  std::vector<AnswerTask> tasks;
  std::vector<bool> asked = answered;
  const std::size_t size = block_size(static_cast<std::size_t>(std::count_if(
      plan.points.begin(), plan.points.end(), [](const PlannedPoint& point) { return point.by_equations(); })));
  std::vector<std::size_t> block;
  const auto close_block = [&] {
    if (!block.empty()) tasks.push_back({kNone, 0, std::move(block)});
    block.clear();
  };
  const auto ask = [&](std::size_t question) {
    if (asked[question]) return;
    asked[question] = true;
    for (int run = 0; run < runs_of(*plan.questions[question].scenario); ++run) tasks.push_back({question, run, {}});
  };
  for (std::size_t at = 0; at < plan.points.size(); ++at) {
    const PlannedPoint& point = plan.points[at];
    if (point.by_equations()) {
      block.push_back(at);
      if (block.size() == size) close_block();
    }
    std::set<std::size_t> in_order;  // for the order of questions, since addresses differ among ranks
    for (const auto& [scenario, question] : point.replays) in_order.insert(question);
    for (const std::size_t question : in_order) ask(question);
  }
  close_block();
  return tasks;
}

}  // namespace stepcast
