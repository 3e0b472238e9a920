// What points are compared by, and held to: throughput, step time, efficiency, memory.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/report/report.hpp"

namespace stepcast {

struct Figure {
  std::string_view name;    ///< on the command line: "step"
  std::string_view title;   ///< "step time"
  std::string_view head;    ///< of the column that the table may have of it: "step"
  std::string_view column;  ///< of the report, with its unit: "step_time_s"
  std::string_view worth;   ///< of what crossover compares by: what worth_of is, in JSON; else empty
  bool more_is_better = true;
  double (*read)(std::string_view);                 ///< text to SI; throws std::invalid_argument or UnitError
  std::string (*text)(double);                      ///< "12.5 ms"
  std::optional<double> (*of)(const PointReport&);  ///< nothing where a point has no such figure
  bool of_memory = false;                           ///< and so of points, too, that do not fit their device
};

std::span<const Figure> figures();
/// "throughput, step, ..."
std::string figure_names();

/// @throws std::invalid_argument for a name that is none, saying which there are
const Figure& find_figure(std::string_view name);

/// The figure asked for; without one, time to the run's target where every point knows when that is reached, else the
/// run's time where every point is a run, else throughput where every point trains, else step time.
/// @throws std::invalid_argument where no point has the one asked for, saying which they have
const Figure& choose_figure(const std::vector<PointReport>& points, const Figure* asked = nullptr);

/// A figure's value as a worth, of which more is better: itself, or one over it.
double worth_of(const Figure& figure, double value);
/// 0, the least there is, of a point that has no such figure, and unless memory is asked of one that its device has not
/// enough of.
double worth_of(const Figure& figure, const PointReport& point);
/// The value that has this worth.
double value_of(const Figure& figure, double worth);

/// A figure that matters, and how much of it will do: at least that where more is better, at most that elsewhere.
struct Goal {
  const Figure* figure = nullptr;
  std::optional<double> value{};  ///< none: the best there is
};

/// Reads "efficiency=0.9", "step=100ms", "memory=80GB", and "efficiency" alone.
/// @throws std::invalid_argument that says what was found and what is allowed
Goal parse_goal(std::string_view text);

/// "efficiency at least 90 %"
std::string goal_text(const Figure& figure, double value);

}  // namespace stepcast
