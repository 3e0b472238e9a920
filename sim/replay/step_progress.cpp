#include "sim/replay/step_progress.hpp"

#include <algorithm>
#include <utility>

#include "sim/replay/replay_log.hpp"

namespace stepcast {
namespace {

/// Counts one more at `step`.
template <class Count>
Count count(std::vector<Count>& by_step, int step) {
  const auto s = static_cast<std::size_t>(step);
  if (by_step.size() <= s) by_step.resize(s + 1, 0);
  return ++by_step[s];
}

}  // namespace

ProgressRules progress_rules(const Scenario& scenario, const StepGraph& graph) {
  ProgressRules rules;
  rules.asynchronous = graph.asynchronous;
  rules.staleness = graph.staleness;
  if (may_repeat(scenario, graph)) rules.periodic_from = warmup_passes(scenario);
  for (const Dependency& d : graph.dependencies) rules.longest_lag = std::max(rules.longest_lag, d.lag);
  rules.max_steps = scenario.evaluation.max_steps;
  return rules;
}

StepProgress::StepProgress(const ProgressRules& rules, const std::vector<int>& tasks, std::size_t tracks)
    : rules_(rules), own_(tasks.size()), tracks_(tracks), steady_(rules.longest_lag) {
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks_ += own_[i].tasks = tasks[i];
}

bool StepProgress::begin(std::size_t participant, int step) {
  Own& self = own_[participant];
  if (stopping_ && step > (rules_.asynchronous ? self.begun : begun_)) return false;
  if (runs_away(step)) {
    ran_away_ = stopping_ = true;
    return false;
  }
  self.begun = std::max(self.begun, step);
  begun_ = std::max(begun_, step);
  return true;
}

bool StepProgress::runs_away(int step) const {
  return rules_.asynchronous && !stopping_ && step > kMostAhead * (slowest_ + 1);
}

bool StepProgress::is_too_far_ahead(int step) const {
  return rules_.staleness && !stopping_ && step - slowest_ > *rules_.staleness;
}

void StepProgress::end_track(std::size_t track, int step, double time) {
  const auto offset = static_cast<std::size_t>(step - first_kept_);
  while (track_ends_.size() <= offset) track_ends_.emplace_back(tracks_, 0.0);
  track_ends_[offset][track] = time;
}

bool StepProgress::end_task(std::size_t participant, int step, double time) {
  Own& self = own_[participant];
  if (count(self.ended, step) == self.tasks) self.step_ends.push_back(time);
  if (count(ended_, step) < tasks_) return false;
  end_step(step, time);
  return true;
}

void StepProgress::end_step(int step, double time) {
  step_ends_.push_back(time);
  slowest_ = step + 1;
  if (stopping_) return;
  std::vector<double> ends = std::move(track_ends_.front());
  track_ends_.pop_front();
  ++first_kept_;
  if (rules_.periodic_from && step >= *rules_.periodic_from) period_ = steady_.add(std::move(ends));
  stopping_ = period_ || step + 1 >= rules_.max_steps;
}

}  // namespace stepcast
