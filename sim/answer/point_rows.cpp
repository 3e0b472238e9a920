#include "sim/answer/point_rows.hpp"

#include <cmath>
#include <deque>
#include <stdexcept>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/equation/evaluate.hpp"
#include "models/strategy/builder.hpp"
#include "sim/answer/asked.hpp"
#include "sim/answer/replay_job.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

std::vector<Metric> columns_of(const Study& study) {
  Report report;
  report.axes = study.axes;
  return report_columns(report);
}

/// The replay of a scenario that was planned for the equations, in a process of its own.
StepForecast replayed(const Scenario& scenario, const StepGraph& graph) {
  const auto results =
      run_in_processes(1, 1, [&](std::size_t) { return answer(ReplayJob{&scenario, &graph, 0}); });
  if (!results.front().error.empty()) throw std::runtime_error(results.front().error);
  return combine({results.front().value});
}

Answers answers_of(const Scenario& scenario, const StepGraph& graph, const ClusterPrices& prices,
                   const ReplayAnswer* replay) {
  Answers answers;
  if (!replay) {
    const Asked answering = asked(scenario, graph, prices);
    if (!answering.refusal.empty()) throw ModelError(answering.refusal);
    if (answering.evaluators.replay) answers.replay = replayed(scenario, graph);
    else answers.equations = evaluate(graph, prices);
    return answers;
  }
  if (scenario.evaluation.evaluator == Evaluator::both) answers.equations = evaluate(graph, prices);
  if (!replay->error.empty()) throw std::runtime_error(replay->error);
  answers.replay = replay->forecast;
  return answers;
}

std::string text_of(RowFormat format, const std::vector<std::string>& names, std::size_t point, const Row& row) {
  switch (format) {
    case RowFormat::csv: return csv_row(row);
    case RowFormat::json_lines: return json_row(names, row);
    case RowFormat::shard: break;
  }
  return numbered_row(point, row);
}

}  // namespace

PointRows::PointRows(const Study& study, std::vector<RowFormat> formats)
    : study_(study), formats_(std::move(formats)), columns_(columns_of(study)) {
  for (const Metric& column : columns_) names_.push_back(column.name);
  names_.emplace_back("error");
}

PointRow PointRows::make(std::size_t point, const std::vector<const ReplayAnswer*>& replays) {
  PointRow made;
  Row row;
  try {
    const PointReport answered = report(study_.points[point], replays);
    made.difference = answered.answers.difference();
    made.beyond_tolerance = made.difference && !(std::abs(*made.difference) <= answered.tolerance);
    for (const Metric& column : columns_) row.push_back(column.value(answered));
    row.emplace_back();
  } catch (const std::exception& error) {
    return make_failed(point, error.what());
  }
  write(point, row, made);
  return made;
}

PointRow PointRows::make_failed(std::size_t point, const std::string& error) const {
  PointRow made;
  made.error = error;
  PointReport unanswered;
  unanswered.coordinates = study_.points[point].coordinates;
  Row row(names_.size());
  for (std::size_t axis = 0; axis < study_.axes.size(); ++axis)
    row[axis] = columns_[axis].value(unanswered);  // the columns begin with the axes
  row.back() = error;
  write(point, row, made);
  return made;
}

void PointRows::write(std::size_t point, const Row& row, PointRow& made) const {
  for (const RowFormat format : formats_) made.texts.push_back(text_of(format, names_, point, row));
}

PointReport PointRows::report(const StudyPoint& point, const std::vector<const ReplayAnswer*>& replays) {
  const auto questions = questions_of(point);
  std::deque<StepGraph> graphs;
  std::deque<Answers> answers;
  std::vector<Answered> answered;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Scenario& scenario = *questions[i];
    const TimedWorkload& timed = workloads_.of(scenario);
    try {
      const ClusterPrices& prices = prices_.of(scenario.cluster);
      graphs.push_back(build_step_graph(scenario, timed.workload, prices));
      answers.push_back(answers_of(scenario, graphs.back(), prices, replays[i]));
      answered.push_back({timed.workload, graphs.back(), answers.back(),
                          i == 0 ? summarise(scenario, graphs.back(), prices) : ExchangeSummary{}, timed.notes});
    } catch (const std::exception& error) {
      if (i == 0) throw;
      throw std::runtime_error(
          fmt::format("{}: {}", i <= point.phases.size() ? "a phase of its run" : "its baseline", error.what()));
    }
  }
  return make_point_report(point, answered);
}

}  // namespace stepcast
