// What points are compared by and held to: metrics that have a goal's name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/report/metrics.hpp"

namespace stepcast {

/// "step, throughput, ..."
std::string goal_names();

/// @throws std::invalid_argument for a name that is no goal's, saying which there are
const Metric& find_metric(std::string_view goal);

/// The metric asked for; without one, time to the run's target where every point knows when that is reached, else the
/// run's time where every point is a run, else throughput where every point trains, else step time.
/// @throws std::invalid_argument where no point has the one asked for, saying which they have
const Metric& choose_metric(const std::vector<PointReport>& points, const Metric* asked = nullptr);

/// A metric's value as a score, of which more is better: itself, or one over it.
double score_of(const Metric& metric, double value);
/// 0, the least there is, of a point that has no such value, and unless memory is asked of one that its device has not
/// enough of.
double score_of(const Metric& metric, const PointReport& point);
/// The value that has this score.
double value_of(const Metric& metric, double score);

/// A metric that matters, and how much of it will do: at least that where more is better, at most that elsewhere.
struct Goal {
  const Metric* metric = nullptr;
  std::optional<double> value{};  ///< none: the best there is
};

/// Reads "efficiency=0.9", "step=100ms", "memory=80GB", and "efficiency" alone.
/// @throws std::invalid_argument that says what was found and what is allowed
Goal parse_goal(std::string_view text);

/// "efficiency at least 90 %"
std::string goal_text(const Metric& metric, double value);

}  // namespace stepcast
