#include "sim/answer/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "models/strategy/builder.hpp"
#include "sim/answer/frames.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

constexpr int kTickMilliseconds = 100;  ///< between looks at the clock and at stop()
constexpr int kPollMilliseconds = 1;    ///< between looks at messages of other ranks

std::string pack(const PointRow& row) {
  std::string packed;
  put_frame(packed, row.error);
  for (const std::string& text : row.texts) put_frame(packed, text);
  return packed;
}

PointRow unpack_row(std::string_view packed) {
  PointRow row;
  row.error = take_frame(packed);
  while (!packed.empty()) row.texts.emplace_back(take_frame(packed));
  return row;
}

std::string pack(const ChildAnswer& answer) {
  std::string packed;
  for (const std::string& text :
       {std::to_string(answer.task), answer.bytes, answer.error, std::string(answer.is_model_error ? "model" : "")})
    put_frame(packed, text);
  return packed;
}

ChildAnswer unpack_answer(std::string_view packed) {
  ChildAnswer answer;
  answer.task = std::stoull(std::string(take_frame(packed)));
  answer.bytes = take_frame(packed);
  answer.error = take_frame(packed);
  answer.is_model_error = !take_frame(packed).empty();
  return answer;
}

class Sweep {
 public:
  Sweep(const Study& study, const SweepSettings& settings, Ranks& ranks, const SweepEvents& events)
      : settings_(settings),
        ranks_(ranks),
        events_(events),
        plan_(plan_sweep(study, settings.shard, settings.program)),
        rows_(study, settings.formats),
        answers_(plan_.questions.size()),
        runs_(plan_.questions.size()),
        made_(plan_.points.size()) {
    count_.points = plan_.points.size();
    count_.replays = plan_.questions.size();
    count_.by_equations = static_cast<std::size_t>(std::count_if(
        plan_.points.begin(), plan_.points.end(), [](const PlannedPoint& p) { return p.by_equations(); }));
  }

  SweepCount run() {
    tasks_ = list_tasks(plan_, look_up());
    ProcessPool pool(settings_.jobs);
    emit();
    while (!count_.stopped && !finished(pool)) {
      look_around();
      take_work(pool);
      for (const ChildAnswer& answer : pool.wait(patience(pool))) {
        if (first()) complete(answer);
        else ranks_.send(pack(answer));
      }
      if (first())
        while (const auto message = ranks_.receive()) complete(unpack_answer(*message));
    }
    if (first()) events_.progress(count_);
    return count_;
  }

 private:
  [[nodiscard]] bool first() const { return ranks_.rank() == 0; }
  /// Equations need no process where there is nobody else to work.
  [[nodiscard]] bool works_itself(const SweepTask& task) const {
    return task.question == kNone && settings_.jobs == 1 && ranks_.size() == 1;
  }

  [[nodiscard]] bool finished(const ProcessPool& pool) {
    if (first()) return completed_ == tasks_.size();
    return no_more_work_ && pool.empty() && ranks_.all_sent();
  }

  /// Which questions the cache answers; rank 0 looks and tells the others.
  std::vector<bool> look_up() {
    std::string found(plan_.questions.size(), '0');
    if (first() && settings_.cache)
      for (std::size_t q = 0; q < found.size(); ++q) {
        answers_[q].forecast = settings_.cache->find(plan_.questions[q].key);
        if (!answers_[q].forecast) continue;
        found[q] = '1';
        ++count_.cached;
      }
    found = ranks_.from_first(std::move(found));
    std::vector<bool> answered;
    for (const char c : found) answered.push_back(c == '1');
    return answered;
  }

  void take_work(ProcessPool& pool) {
    while (!no_more_work_ && !pool.full()) {
      const std::size_t next = ranks_.next();
      no_more_work_ = next >= tasks_.size();
      if (no_more_work_) return;
      if (works_itself(tasks_[next])) {
        complete_block(tasks_[next]);
        return;
      }
      pool.start(next, [&] { return answer(tasks_[next]); });
    }
  }

  [[nodiscard]] int patience(const ProcessPool& pool) const {
    if (pool.empty() && !no_more_work_) return 0;
    const bool talks = ranks_.size() > 1 && (first() || no_more_work_);
    return talks ? kPollMilliseconds : kTickMilliseconds;
  }

  /// Runs in a child.
  std::string answer(const SweepTask& task) {
    std::string packed;
    if (task.question != kNone) {
      const Scenario& scenario = *plan_.questions[task.question].scenario;
      const StepGraph graph = build_step_graph(scenario, make_workload(scenario));
      return stepcast::answer(ReplayJob{&scenario, &graph, task.run}).dump();
    }
    for (const std::size_t at : task.block) put_frame(packed, pack(by_equations(at)));
    return packed;
  }

  void complete_block(const SweepTask& task) {
    for (const std::size_t at : task.block) {
      made_[at] = by_equations(at);
      look_around();
      emit();
      if (count_.stopped) return;
    }
    ++completed_;
  }

  void complete(const ChildAnswer& answer) {
    const SweepTask& task = tasks_[answer.task];
    ++completed_;
    if (task.question != kNone) {
      complete_replay(task, answer);
    } else if (!answer.error.empty()) {
      for (const std::size_t at : task.block) made_[at] = rows_.make_failed(plan_.points[at].index, answer.error);
    } else {
      std::string_view packed = answer.bytes;
      for (const std::size_t at : task.block) made_[at] = unpack_row(take_frame(packed));
    }
    emit();
  }

  void complete_replay(const SweepTask& task, const ChildAnswer& answer) {
    const ReplayQuestion& question = plan_.questions[task.question];
    ReplayAnswer& its_answer = answers_[task.question];
    Runs& runs = runs_[task.question];
    if (answer.error.empty()) runs.answers.push_back({task.run, Json::parse(answer.bytes)});
    else if (runs.error.empty()) runs.error = answer.is_model_error ? answer.error : "replay failed: " + answer.error;
    if (++runs.ended < runs_of(*question.scenario)) return;
    if (runs.error.empty()) {
      std::sort(runs.answers.begin(), runs.answers.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      std::vector<Json> in_order;
      for (auto& [run, packed] : runs.answers) in_order.push_back(std::move(packed));
      its_answer.forecast = combine(in_order);
      if (settings_.cache) settings_.cache->put(question.key, *its_answer.forecast);
      ++count_.computed;
    }
    its_answer.error = std::move(runs.error);
    runs = {};
  }

  PointRow by_equations(std::size_t at) {
    const PlannedPoint& point = plan_.points[at];
    if (!point.refusal.empty()) return rows_.make_failed(point.index, point.refusal);
    return rows_.make(point.index, std::vector<const ReplayAnswer*>(point.replays.size()));
  }

  [[nodiscard]] bool is_answered(std::size_t question) const {
    return question == kNone || answers_[question].forecast || !answers_[question].error.empty();
  }
  [[nodiscard]] const ReplayAnswer* answer_to(std::size_t question) const {
    return question == kNone ? nullptr : &answers_[question];
  }

  /// Writes the rows whose turn has come.
  void emit() {
    for (; first() && !count_.stopped && next_row_ < plan_.points.size(); ++next_row_) {
      const PlannedPoint& point = plan_.points[next_row_];
      std::optional<PointRow>& row = made_[next_row_];
      if (point.by_equations() ? !row : !std::all_of(point.replays.begin(), point.replays.end(), [&](std::size_t q) {
            return is_answered(q);
          }))
        return;
      if (!row) {
        std::vector<const ReplayAnswer*> replays;
        for (const std::size_t question : point.replays) replays.push_back(answer_to(question));
        row = point.refusal.empty() ? rows_.make(point.index, replays) : rows_.make_failed(point.index, point.refusal);
      }
      for (std::size_t format = 0; format < row->texts.size(); ++format) events_.write(format, row->texts[format]);
      ++count_.done;
      if (row->difference) {
        ++count_.compared;
        count_.beyond_tolerance += row->beyond_tolerance ? 1 : 0;
        count_.largest_difference = std::max(count_.largest_difference, std::abs(*row->difference));
      }
      if (!row->error.empty()) {
        ++count_.failed;
        events_.failed(point.index, row->error);
      }
      row.reset();
      look_around();
    }
  }

  /// Tells how far it is and asks whether to stop, when it is time again.
  void look_around() {
    const auto now = std::chrono::steady_clock::now();
    if (!first() || now - last_look_ < std::chrono::milliseconds(kTickMilliseconds)) return;
    last_look_ = now;
    events_.progress(count_);
    count_.stopped = events_.stop();
  }

  struct Runs {
    std::vector<std::pair<int, Json>> answers;
    std::string error;
    int ended = 0;
  };

  const SweepSettings& settings_;
  Ranks& ranks_;
  const SweepEvents& events_;
  SweepPlan plan_;
  PointRows rows_;
  std::vector<ReplayAnswer> answers_;  ///< to the plan's questions
  std::vector<Runs> runs_;
  std::vector<std::optional<PointRow>> made_;  ///< rows that wait for their turn
  std::vector<SweepTask> tasks_;
  SweepCount count_;
  std::size_t completed_ = 0, next_row_ = 0;
  bool no_more_work_ = false;
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
};

}  // namespace

SweepCount sweep(const Study& study, const SweepSettings& settings, Ranks& ranks, const SweepEvents& events) {
  return Sweep(study, settings, ranks, events).run();
}

}  // namespace stepcast
