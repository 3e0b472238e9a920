#include "sim/answer/evaluate_study.hpp"

#include <map>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/equation/evaluate.hpp"
#include "models/price/recent_prices.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/asked.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/answer/timed_workloads.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

/// A scenario to answer, shared by all points and baselines that are the same question.
struct Question {
  const Scenario* scenario = nullptr;
  const TimedWorkload* workload = nullptr;
  StepGraph graph;
  bool is_replayed = false;
  Answers answers;
  ExchangeSummary exchange;
  std::string where;  ///< for messages
};

std::string describe(const std::vector<Coordinate>& coordinates) {
  std::string text;
  for (const Coordinate& c : coordinates) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", c.axis, c.value);
  return text.empty() ? "the scenario" : text;
}

/// Which of a point's questions this is, for messages.
std::string where(const StudyPoint& point, const Scenario& scenario) {
  const std::string at = describe(point.coordinates);
  for (std::size_t i = 0; i < point.phases.size(); ++i)
    if (&scenario == &point.phases[i]) return fmt::format("phase {} of {}", point.scenario.run->phases[i].name, at);
  return &scenario == &point.scenario ? at : "baseline of " + at;
}

/// The scenarios to answer, each with its step graph and what the equations say.
class Questions {
 public:
  /// @throws ModelError, naming where, when there is no graph or the equations cannot evaluate it
  std::size_t add(const Scenario& scenario, const std::string& where) {
    const auto [entry, is_new] = known_.try_emplace(key(scenario), all_.size());
    if (!is_new) return entry->second;
    Question question;
    question.scenario = &scenario;
    question.workload = &workloads_.of(scenario);
    question.where = where;
    const ClusterPrices& prices = prices_.of(scenario.cluster);
    try {
      question.graph = build_step_graph(scenario, question.workload->workload, prices);
      question.exchange = summarise(scenario, question.graph, prices);
      const Asked answering = asked(scenario, question.graph, prices);
      if (!answering.refusal.empty()) throw ModelError(answering.refusal);
      question.is_replayed = answering.evaluators.replay;
      if (answering.evaluators.equations) question.answers.equations = evaluate(question.graph, prices);
    } catch (const std::invalid_argument& error) {
      throw ModelError(fmt::format("{}: {}", where, error.what()));
    } catch (const ModelError& error) {
      throw ModelError(fmt::format("{}: {}", where, error.what()));
    }
    all_.push_back(std::move(question));
    return entry->second;
  }

  std::vector<Question>& all() { return all_; }

 private:
  /// Everything that can change an answer. The workload is shared by pointer when it came by name.
  static std::string key(const Scenario& scenario) {
    return fmt::format("{} {}", static_cast<const void*>(scenario.workload.get()),
                       to_json(without_labels(scenario)).dump());
  }

  std::map<std::string, std::size_t> known_;
  TimedWorkloads workloads_;
  RecentPrices prices_;
  std::vector<Question> all_;
};

void answer_by_replay(std::vector<Question>& questions, int jobs) {
  std::vector<ReplayJob> work;
  std::vector<std::size_t> owner;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Question& q = questions[i];
    if (!q.is_replayed) continue;
    for (int run = 0; run < runs_of(*q.scenario); ++run) {
      work.push_back({q.scenario, &q.graph, run});
      owner.push_back(i);
    }
  }
  const auto results = run_in_processes(work.size(), jobs, [&](std::size_t i) { return answer(work[i]); });
  for (std::size_t i = 0; i < results.size();) {
    std::vector<Json> runs;
    const std::size_t question = owner[i];
    for (; i < results.size() && owner[i] == question; ++i) {
      if (results[i].is_model_error)
        throw ModelError(fmt::format("{}: {}", questions[question].where, results[i].error));
      if (!results[i].error.empty())
        throw std::runtime_error(fmt::format("{}: replay failed: {}", questions[question].where, results[i].error));
      runs.push_back(results[i].value);
    }
    questions[question].answers.replay = combine(runs);
  }
}

}  // namespace

Report evaluate_study(const Study& study, int jobs) {
  Questions questions;
  std::vector<std::vector<std::size_t>> asked;
  for (const StudyPoint& point : study.points) {
    asked.emplace_back();
    for (const Scenario* scenario : questions_of(point))
      asked.back().push_back(questions.add(*scenario, where(point, *scenario)));
  }
  answer_by_replay(questions.all(), jobs);

  Report report;
  report.name = study.name;
  report.description = study.description;
  report.axes = study.axes;
  report.baseline = baseline_of(study.points);
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const StudyPoint& point = study.points[i];
    std::vector<Answered> answered;
    for (const std::size_t question : asked[i]) {
      const Question& q = questions.all()[question];
      answered.push_back({q.workload->workload, q.graph, q.answers, q.exchange, q.workload->notes});
    }
    if (point.scenario.baseline) report.given_baseline = true;
    report.points.push_back(make_point_report(point, answered));
  }
  return report;
}

}  // namespace stepcast
