#include "sim/answer/answer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "models/describe/json.hpp"
#include "sim/answer/frames.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/replay/processes.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

constexpr int kTickMilliseconds = 100;  ///< interval between looks at the clock and at stop()
constexpr int kPollMilliseconds = 1;    ///< interval between looks at messages of other ranks

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

class Engine {
 public:
  Engine(std::span<const StudyPoint> points, const AnswerOptions& options, Ranks& ranks, const AnswerSink& sink)
      : points_(points), options_(options), ranks_(ranks), sink_(sink), plan_(points, options.shard, options.program) {
    if (!options.here) plan_.foresee(points);
    answers_.resize(plan_.questions.size());
    runs_.resize(plan_.questions.size());
    packed_.resize(plan_.points.size());
    count_.points = plan_.points.size();
    count_.replays = plan_.questions.size();
    count_.by_equations = static_cast<std::size_t>(std::count_if(
        plan_.points.begin(), plan_.points.end(), [](const PlannedPoint& p) { return p.by_equations(); }));
  }

  AnswerCount run() {
    tasks_ = list_tasks(plan_, look_up());
    count_.runs = static_cast<std::size_t>(
        std::count_if(tasks_.begin(), tasks_.end(), [](const AnswerTask& task) { return task.question != kNone; }));
    ProcessPool pool(options_.jobs);
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
    if (first() && sink_.progress) sink_.progress(count_);
    return count_;
  }

 private:
  PointAnswerer& answerer() { return options_.answerer ? *options_.answerer : own_answerer_; }
  [[nodiscard]] bool first() const { return ranks_.rank() == 0; }
  /// Equations need no other process if nobody else works.
  [[nodiscard]] bool works_itself(const AnswerTask& task) const {
    return task.question == kNone && (options_.here || (options_.jobs == 1 && ranks_.size() == 1));
  }

  [[nodiscard]] bool finished(const ProcessPool& pool) {
    if (first()) return completed_ == tasks_.size();
    return no_more_work_ && pool.empty() && ranks_.all_sent();
  }

  /// Finds the questions that the cache answers. Rank 0 looks and tells the others.
  std::vector<bool> look_up() {
    std::string found(plan_.questions.size(), '0');
    if (first() && options_.cache)
      for (std::size_t q = 0; q < found.size(); ++q) {
        answers_[q].forecast = options_.cache->find(plan_.questions[q].key);
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
        complete_block(tasks_[next].block);
        return;
      }
      if (tasks_[next].question != kNone) static_cast<void>(simulator());  // loaded once, not by each child
      pool.start(next, [&] { return work(tasks_[next]); });
    }
  }

  [[nodiscard]] int patience(const ProcessPool& pool) const {
    if (pool.empty() && !no_more_work_) return 0;
    const bool talks = ranks_.size() > 1 && (first() || no_more_work_);
    return talks ? kPollMilliseconds : kTickMilliseconds;
  }

  /// Runs in a child.
  std::string work(const AnswerTask& task) {
    std::string packed;
    if (task.question != kNone) {
      const Scenario& scenario = *plan_.questions[task.question].scenario;
      const StepGraph graph = answerer().graph_of(scenario);
      return pack_json(answer(ReplayJob{&scenario, &graph, task.run}));
    }
    for (const std::size_t at : task.block) put_frame(packed, *packed_answer(at));
    return packed;
  }

  // A copy: tasks may be added meanwhile. NOLINTNEXTLINE(performance-unnecessary-value-param)
  void complete_block(const std::vector<std::size_t> block) {
    for (const std::size_t at : block) {
      packed_[at] = packed_answer(at);
      look_around();
      emit();
      if (count_.stopped) return;
    }
    ++completed_;
  }

  void complete(const ChildAnswer& answer) {
    const AnswerTask& task = tasks_[answer.task];
    ++completed_;
    if (task.question != kNone) {
      complete_replay(task, answer);
    } else if (!answer.error.empty()) {
      for (const std::size_t at : task.block) {
        const std::size_t point = plan_.points[at].index;
        packed_[at] = sink_.pack(point, {{}, answer.error});
      }
    } else {
      std::string_view packed = answer.bytes;
      for (const std::size_t at : task.block) packed_[at] = take_frame(packed);
    }
    emit();
  }

  void complete_replay(const AnswerTask& task, const ChildAnswer& answer) {
    const ReplayQuestion& question = plan_.questions[task.question];
    ReplayAnswer& its_answer = answers_[task.question];
    ++count_.runs_ended;
    Runs& runs = runs_[task.question];
    if (answer.error.empty()) runs.answers.push_back({task.run, unpack_json(answer.bytes)});
    else if (runs.error.empty()) runs.error = answer.is_model_error ? answer.error : "replay failed: " + answer.error;
    if (++runs.ended < runs_of(*question.scenario)) return;
    if (runs.error.empty()) {
      std::sort(runs.answers.begin(), runs.answers.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      std::vector<Json> in_order;
      for (auto& [run, packed] : runs.answers) in_order.push_back(std::move(packed));
      its_answer.forecast = combine(in_order);
      if (options_.cache) options_.cache->put(question.key, *its_answer.forecast);
      ++count_.computed;
    }
    its_answer.error = std::move(runs.error);
    runs = {};
  }

  /// Sends the point's answer to the sink. If replays are missing, adds them to the tasks instead.
  std::optional<std::string> packed_answer(std::size_t at) {
    PlannedPoint& point = plan_.points[at];
    std::vector<const Scenario*> missing;
    PointAnswer answer{{}, point.refusal};
    const auto replay_of = [&](const Scenario& scenario) -> const ReplayAnswer* {
      const auto found = point.replays.find(&scenario);
      return found == point.replays.end() ? nullptr : &answers_[found->second];
    };
    if (point.refusal.empty())
      answer = answerer().answer(points_[point.index], replay_of, options_.here ? &missing : nullptr);
    for (const Scenario* scenario : missing) add_replay(point, *scenario);
    if (!point.refusal.empty()) answer.reason = point.refusal;
    else if (!missing.empty()) return {};
    return sink_.pack(point.index, std::move(answer));
  }

  void add_replay(PlannedPoint& point, const Scenario& scenario) {
    plan_.replay(point, scenario);
    if (plan_.questions.size() == answers_.size()) return;
    answers_.emplace_back();
    runs_.emplace_back();
    ++count_.replays;
    count_.runs += static_cast<std::size_t>(runs_of(scenario));
    for (int run = 0; run < runs_of(scenario); ++run) tasks_.push_back({answers_.size() - 1, run, {}});
  }

  /// Hands on the answers in turn.
  void emit() {
    for (; first() && !count_.stopped && next_ < plan_.points.size(); ++next_) {
      const PlannedPoint& point = plan_.points[next_];
      std::optional<std::string>& packed = packed_[next_];
      if (!packed) {
        if (point.by_equations()) return;
        for (const auto& [scenario, question] : point.replays)
          if (!answers_[question].forecast && answers_[question].error.empty()) return;
        packed = packed_answer(next_);
        if (!packed) return;
      }
      sink_.take(point.index, std::move(*packed));
      packed.reset();
      ++count_.done;
      look_around();
    }
  }

  /// From time to time, reports the progress and asks whether to stop.
  void look_around() {
    const auto now = std::chrono::steady_clock::now();
    if (!first() || now - last_look_ < std::chrono::milliseconds(kTickMilliseconds)) return;
    last_look_ = now;
    if (sink_.progress) sink_.progress(count_);
    count_.stopped = sink_.stop && sink_.stop();
  }

  struct Runs {
    std::vector<std::pair<int, Json>> answers;
    std::string error;
    int ended = 0;
  };

  std::span<const StudyPoint> points_;
  const AnswerOptions& options_;
  Ranks& ranks_;
  const AnswerSink& sink_;
  AnswerPlan plan_;
  PointAnswerer own_answerer_;
  std::vector<ReplayAnswer> answers_;  ///< one for each of the plan's questions
  std::vector<Runs> runs_;
  std::vector<std::optional<std::string>> packed_;  ///< answers that wait for their turn
  std::vector<AnswerTask> tasks_;
  AnswerCount count_;
  std::size_t completed_ = 0, next_ = 0;
  bool no_more_work_ = false;
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
};

}  // namespace

AnswerCount answer(std::span<const StudyPoint> points, const AnswerOptions& options, Ranks& ranks,
                   const AnswerSink& sink) {
  return Engine(points, options, ranks, sink).run();
}

}  // namespace stepcast
