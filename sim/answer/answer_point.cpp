#include "sim/answer/answer_point.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/equation/evaluate.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/asked.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/replay/processes.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

using Missing = std::vector<const Scenario*>;

StepForecast replayed(const Scenario& scenario, StepGraph graph, const ClusterPrices& prices) {
  set_stack_shares(graph, prices);
  static_cast<void>(simulator());  // loaded once, not by each child
  const auto results = run_in_processes(1, 1, [&](std::size_t) { return answer(ReplayJob{&scenario, &graph, 0}); });
  if (!results.front().error.empty()) throw std::runtime_error(results.front().error);
  return combine({results.front().value});
}

/// Returns no answers for a scenario without its replay.
Answers answers_of(const Scenario& scenario, KeptGraph& kept, const ClusterPrices& prices, Details details,
                   const ReplayAnswer* replay, Missing* missing) {
  const StepGraph& graph = kept.graph;
  Evaluators by{scenario.evaluation.evaluator == Evaluator::both, true};
  if (!replay) {
    const Asked answering = asked(scenario, graph, prices);
    if (!answering.refusal.empty()) throw ModelError(answering.refusal);
    by = answering.evaluators;
  }
  Answers answers;
  if (by.equations) {
    refuse_asynchronous(graph);
    answers.equations = evaluate(graph, kept.unfolded(scenario.cluster), prices, details);
  }
  if (!by.replay) return answers;
  if (replay && !replay->error.empty()) throw std::runtime_error(replay->error);
  if (replay) answers.replay = replay->forecast;
  else if (missing) missing->push_back(&scenario);
  else answers.replay = replayed(scenario, graph, prices);
  return answers;
}

}  // namespace

PointAnswer PointAnswerer::answer(const StudyPoint& point, const Replays& replays, Missing* missing) {
  try {
    PointAnswer answer;
    PointReport made = report(point, replays, missing);
    if (!missing || missing->empty()) answer.report = std::move(made);
    return answer;
  } catch (const std::exception& error) {
    if (missing) missing->clear();
    return {{}, error.what()};
  }
}

StepGraph PointAnswerer::graph_of(const Scenario& scenario) {
  StepGraph graph = kept_graph_of(scenario)->graph;
  set_stack_shares(graph, prices_.of(scenario.cluster));
  return graph;
}

std::shared_ptr<KeptGraph> PointAnswerer::kept_graph_of(const Scenario& scenario) {
  return graphs_.of(scenario, workloads_.of(scenario).workload, prices_.of(scenario.cluster));
}

PointReport PointAnswerer::report(const StudyPoint& point, const Replays& replays, Missing* missing) {
  const auto answered = [&](const Scenario& scenario, const char* whose) -> Answered {
    try {
      const auto graph = kept_graph_of(scenario);
      const ClusterPrices& prices = prices_.of(scenario.cluster);
      return {workloads_.of(scenario).workload,
              answers_of(scenario, *graph, prices, details_, replays(scenario), missing)};
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{}: {}", whose, error.what()));
    }
  };
  const Scenario& scenario = point.scenario;
  const TimedWorkload& timed = workloads_.of(scenario);
  const auto kept = kept_graph_of(scenario);
  const StepGraph& graph = kept->graph;
  const ClusterPrices& prices = prices_.of(scenario.cluster);
  AnsweredPoint all{{timed.workload, answers_of(scenario, *kept, prices, details_, replays(scenario), missing)},
                    graph,
                    {},
                    {},
                    timed.notes,
                    {},
                    {},
                    {},
                    {},
                    details_};
  if (!missing || missing->empty()) {
    const Answers& own = all.own.answers;
    all.exchange = summarise(scenario, graph, prices, own.equations ? &kept->unfolded(scenario.cluster) : nullptr);
    if (details_ == Details::made)
      all.band = error_band(scenario, graph, prices, own.equations ? std::optional(own.equations->step) : std::nullopt,
                            own.shown().step, sides_);
  }
  for (const Scenario& phase : point.phases) all.phases.push_back(answered(phase, "a phase of its run"));
  if (point.baseline()) all.baseline.emplace(answered(*point.baseline(), "its baseline"));
  for (const Scenario& phase : point.phases_of_baseline())
    all.baseline_phases.push_back(answered(phase, "its baseline"));
  if (missing && !missing->empty()) return {};
  if (trains(scenario) && point.phases.empty()) all.memory = kept->memory(scenario, timed.workload);
  return make_point_report(point, all);
}

}  // namespace stepcast
