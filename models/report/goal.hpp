// Goals: metrics that points can be compared by or held to, with their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/report/metrics.hpp"

namespace stepcast {

/// "step, throughput, ..."
std::string goal_names();

/// @throws std::invalid_argument for an unknown name, with the known ones
const Metric& find_metric(std::string_view goal);

/// The metric to compare points by. If none is asked for, it is:
///
/// - time to the run's target, if every point knows it
/// - the run's time, if every point is a run
/// - throughput, if every point trains
/// - step time otherwise
///
/// @throws std::invalid_argument if no point has the metric asked for, with those that they have
const Metric& choose_metric(const std::vector<PointReport>& points, const Metric* asked = nullptr);

/// A metric's value as a score, of which more is better: the value, or its reciprocal.
double score_of(const Metric& metric, double value);
/// Returns 0, the least score, for a point without such a value. So does a point that needs more memory than its device
/// has, unless the metric is memory.
double score_of(const Metric& metric, const PointReport& point);
/// The value that has this score.
double value_of(const Metric& metric, double score);

/// A metric with a value to reach: at least that value if more is better, else at most.
struct Goal {
  const Metric* metric = nullptr;
  std::optional<double> value{};  ///< none: the best possible value
};

/// Reads "efficiency=0.9", "step=100ms", "memory=80GB", or "efficiency" alone.
/// @throws std::invalid_argument with the text found and the allowed texts
Goal parse_goal(std::string_view text);

/// "efficiency at least 90 %"
std::string goal_text(const Metric& metric, double value);

}  // namespace stepcast
