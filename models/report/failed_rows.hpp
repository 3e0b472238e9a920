// The order of points with and without an answer.
#pragma once

#include <cstddef>
#include <vector>

#include "models/report/metrics.hpp"
#include "models/report/report.hpp"
#include "models/report/rows.hpp"

namespace stepcast {

/// A row for a point without an answer: its axes alone.
Row failed_row(const std::vector<Metric>& columns, const std::vector<Coordinate>& coordinates);

/// Calls answered(PointReport) or failed(FailedPoint) for each point, in the study's order.
template <class OfAnswered, class OfFailed>
void for_each_point(const Report& report, OfAnswered&& answered, OfFailed&& failed) {
  auto next = report.failed.begin();
  std::size_t index = 0;
  for (const PointReport& point : report.points) {
    for (; next != report.failed.end() && next->index == index; ++index) failed(*next++);
    answered(point);
    ++index;
  }
  for (; next != report.failed.end(); ++next) failed(*next);
}

}  // namespace stepcast
