#include "sim/program/verdict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "program/streams.hpp"
#include "sim/program/command.hpp"

namespace stepcast {

void Verdict::add_difference(double difference, double tolerance) {
  ++compared;
  largest_difference = std::max(largest_difference, std::abs(difference));
  if (!(std::abs(difference) <= tolerance)) ++beyond_tolerance;
}

int Verdict::judge() const {
  if (compared > 0) {
    tell("stepcast: replay and equations differ by at most {:.2g}", largest_difference);
    if (beyond_tolerance > 0) tell(": beyond the tolerance at {} of {} points", beyond_tolerance, points);
    tell("\n");
  }
  if (failed > 0) return kRunFailed;
  return beyond_tolerance > 0 ? kThresholdMissed : kOk;
}

void tell_failure(const std::string& file, const Study& study, std::size_t point, const std::string& reason) {
  std::string text = fmt::format("point {} of {}", point + 1, study.points.size());
  for (const Coordinate& c : study.points[point].coordinates) {
    const auto axis =
        static_cast<std::size_t>(std::find(study.axes.begin(), study.axes.end(), c.axis) - study.axes.begin());
    text += fmt::format(", {} = {}", study.axis_pointers[axis], c.value);
  }
  tell("stepcast: {}: {} failed: {}\n", file, text, reason);
}

int judge_report(const std::string& file, const Study& study, const Report& report) {
  for (const FailedPoint& failed : report.failed) tell_failure(file, study, failed.index, failed.reason);
  Verdict verdict{.points = report.points.size(), .failed = report.failed.size()};
  for (const PointReport& point : report.points)
    if (const auto difference = point.answers.difference()) verdict.add_difference(*difference, point.tolerance);
  return verdict.judge();
}

}  // namespace stepcast
