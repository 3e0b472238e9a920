#include "sim/answer/answer_study.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "models/report/answer_sentence.hpp"
#include "models/report/axis_columns.hpp"
#include "models/study/alternatives.hpp"

namespace stepcast {

std::vector<PointAnswer> answer_points(std::span<const StudyPoint> points, int jobs, const PointProgress& progress,
                                       PointAnswerer* answerer) {
  std::vector<PointAnswer> answers(points.size());
  AnswerSink sink{[&](std::size_t point, PointAnswer&& answer) {
                    answers[point] = std::move(answer);
                    return std::string();
                  },
                  [](std::size_t, const std::string&) {}, progress};
  answer(points, {.jobs = jobs, .here = true, .answerer = answerer}, *one_process(), sink);
  return answers;
}

Report answer_study(const Study& study, int jobs, const PointProgress& progress, PointAnswerer* answerer) {
  Report report;
  report.name = study.name;
  report.description = study.description;
  report.axes = study.axes;
  report.axis_units = axis_units(study);
  report.baseline = baseline_of(study.points);
  std::vector<PointAnswer> answers = answer_points(study.points, jobs, progress, answerer);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const StudyPoint& point = study.points[i];
    if (point.scenario.baseline) report.given_baseline = true;
    if (answers[i].report) report.points.push_back(std::move(*answers[i].report));
    else report.failed.push_back({i, point.coordinates, std::move(answers[i].reason)});
  }
  report.answer = answer_sentence(study, report);
  if (!report.answer.empty()) report.answer_notes = answer_notes(study);
  return report;
}

Report answer_whole_study(const Study& study, int jobs, const PointProgress& progress, PointAnswerer* answerer) {
  Report report = answer_study(study, jobs, progress, answerer);
  if (report.failed.empty()) return report;
  const FailedPoint& failed = report.failed.front();
  const std::string at = failed.coordinates.empty() ? "the scenario" : label(failed.coordinates);
  throw std::runtime_error(fmt::format("{}: {}", at, failed.reason));
}

}  // namespace stepcast
