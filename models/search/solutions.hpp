// Finds along one field the best value for each point, and the values that are good enough.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/report/goal.hpp"
#include "models/search/goal_search.hpp"

namespace stepcast {

/// Version of the JSON document's shape. It increases when a field changes its meaning or is removed.
inline constexpr int kSolutionsSchemaVersion = 1;

/// The search's result for one point of the study, without the point's coordinate on the field.
struct PointSolution {
  std::vector<Coordinate> coordinates;
  GoalSearch search;
};

struct Solutions {
  std::string name;
  std::string axis, pointer;  ///< the field
  AxisRange range;
  std::size_t grid = 0;  ///< values of it
  const Metric* metric = nullptr;
  std::optional<double> goal{};   ///< the metric's value to reach
  double near = kNearBest;        ///< the accepted loss near the best, as a share of it
  bool replayed = false;          ///< by the replay, not by the equations
  std::vector<std::string> axes;  ///< the study's other axes
  std::vector<PointSolution> points;
  Notes notes;
};

/// Headline, one row for each point, notes.
std::string to_text(const Solutions& solutions);
/// One line for each interval and each best value, in SI.
std::string to_csv(const Solutions& solutions);
/// Best values, intervals, and every evaluated value with its metric.
Json solutions_document(const Solutions& solutions, const Json& manifest);

}  // namespace stepcast
