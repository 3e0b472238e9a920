#include "sim/replay/step_progress.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/replay/replay_log.hpp"

namespace stepcast {
namespace {

/// Steps over which differences are seen to fall. Differences of neighbouring steps need not fall.
constexpr std::ptrdiff_t kSpan = 8;

}  // namespace

/// The largest difference of a stream's latest ends from those of c steps before, shifted by D.
double SteadyState::difference(int c) const {
  const auto shift = static_cast<std::size_t>(c);
  const double d = seconds(c);
  double most = 0.0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(memory_); ++i)
    for (std::size_t s = 0; s < at(i).size(); ++s) most = std::max(most, std::abs(at(i)[s] - at(i + shift)[s] - d));
  return most;
}

/// Whether the differences have more than halved twice, over two equal spans of steps. At that pace, all later
/// differences must add up to little.
bool SteadyState::converges(int c) const {
  const std::deque<double>& all = differences_[static_cast<std::size_t>(c) - 1];
  if (static_cast<std::ptrdiff_t>(all.size()) < 3 * kSpan) return false;
  const auto most = [&](std::ptrdiff_t spans_ago) {
    return *std::max_element(all.end() - (spans_ago + 1) * kSpan, all.end() - spans_ago * kSpan);
  };
  const double latest = most(0), before = most(1);
  if (latest > before / 2 || before > most(2) / 2) return false;
  const double pace = latest / before;
  return kSpan * latest * pace / (1 - pace) <= kConverged * seconds(c);
}

std::optional<Period> SteadyState::add(std::vector<double> ends) {
  history_.push_back(std::move(ends));
  const auto window = static_cast<std::size_t>(memory_) + 1;
  if (history_.size() > window + static_cast<std::size_t>(longest_period_)) history_.pop_front();

  const int longest = std::min(longest_period_, static_cast<int>(history_.size() - std::min(history_.size(), window)));
  for (int c = 1; c <= longest; ++c) {
    const double allowed = tolerance_ * seconds(c) + kRounding * at(0).front();
    std::deque<double>& differences = differences_[static_cast<std::size_t>(c) - 1];
    differences.push_back(difference(c));
    if (differences.back() <= allowed) return Period{c, seconds(c)};
    if (static_cast<std::ptrdiff_t>(differences.size()) > 3 * kSpan) differences.pop_front();
  }
  for (int c = 1; c <= longest; ++c)
    if (converges(c)) return Period{c, seconds(c), true};
  return {};
}

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
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<CollectiveWork>(&task.work); work && graph.asynchronous)
      rules.together = std::max(rules.together, work->call.among.size(scenario.cluster.workers));
  rules.staleness = graph.staleness;
  rules.by_updates = graph.first_pushes.has_value();
  if (may_repeat(scenario, graph)) rules.periodic_from = warmup_passes(scenario);
  for (const Dependency& d : graph.dependencies) rules.longest_lag = std::max(rules.longest_lag, d.lag);
  rules.max_steps = scenario.evaluation.max_steps;
  return rules;
}

StepProgress::StepProgress(const ProgressRules& rules, const std::vector<int>& tasks, std::size_t tracks)
    : rules_(rules),
      own_(tasks.size()),
      tracks_(tracks),
      begun_(rules.asynchronous ? tasks.size() / static_cast<std::size_t>(rules.together) + 1 : 1, -1),
      steady_(rules.longest_lag) {
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks_ += own_[i].tasks = tasks[i];
}

bool StepProgress::begin(std::size_t participant, int step) {
  int& begun = begun_with(participant);
  if (stopping_ && step > begun) return false;
  if (runs_away(step)) {
    ran_away_ = stopping_ = true;
    return false;
  }
  begun = std::max(begun, step);
  return true;
}

bool StepProgress::runs_away(int step) const {
  return rules_.asynchronous && !rules_.by_updates && !stopping_ && step > kMostAhead * (slowest_ + 1);
}

bool StepProgress::is_too_far_ahead(int step) const {
  return rules_.staleness && !stopping_ && step - slowest_ > *rules_.staleness;
}

void StepProgress::begin_task(int step, double time) {
  if (first_begin_.size() == static_cast<std::size_t>(step)) first_begin_.push_back(time);
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

bool StepProgress::end_updates(std::size_t updates) {
  stopping_ = stopping_ || updates >= static_cast<std::size_t>(rules_.max_steps);
  return stopping_;
}

double StepProgress::length_of(int step) const {
  const auto s = static_cast<std::size_t>(step);
  return step_ends_[s] - (s == 0 ? 0.0 : step_ends_[s - 1]);
}

bool StepProgress::begins_apart(int step) const {
  const auto s = static_cast<std::size_t>(step);
  if (step == 0 || s >= first_begin_.size()) return true;
  const double end = step_ends_[s - 1];
  return end - first_begin_[s] <= SteadyState::kEqual * length_of(step - 1) + SteadyState::kRounding * end;
}

void StepProgress::end_step(int step, double time) {
  step_ends_.push_back(time);
  slowest_ = step + 1;
  if (stopping_) return;
  std::vector<double> ends = std::move(track_ends_.front());
  track_ends_.pop_front();
  ++first_kept_;
  if (rules_.periodic_from && step >= *rules_.periodic_from) {
    period_ = steady_.add(std::move(ends));
    if (rules_.one_may_do && begins_apart(step) && begins_apart(step + 1)) period_ = {1, length_of(step), false, true};
  }
  stopping_ = period_ || step + 1 >= rules_.max_steps;
}

}  // namespace stepcast
