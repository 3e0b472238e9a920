// Along one field, point by point: which value of it is the best, and which are good enough?
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/report/goal.hpp"
#include "models/search/goal_search.hpp"

namespace stepcast {

/// Version of the JSON document's shape; rises when a field changes its meaning or goes away.
inline constexpr int kSolutionsSchemaVersion = 1;

/// What the search found of one point of the study, its coordinate on the field left out.
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
  std::optional<double> goal{};   ///< its value to be reached
  double near = kNearBest;        ///< what near the best is, as a share of it
  bool replayed = false;          ///< by the replay, not by the equations
  std::vector<std::string> axes;  ///< the study's others
  std::vector<PointSolution> points;
  Notes notes;
};

/// Headline, one row a point, notes.
std::string to_text(const Solutions& solutions);
/// One line for each interval and each best value, in SI.
std::string to_csv(const Solutions& solutions);
/// Best values, intervals, and every value that was evaluated with the metric there.
Json solutions_document(const Solutions& solutions, const Json& manifest);

}  // namespace stepcast
