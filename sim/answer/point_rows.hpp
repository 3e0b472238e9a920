// From a point of a study to its row of the output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/price/recent_prices.hpp"
#include "models/report/metrics.hpp"
#include "models/report/rows.hpp"
#include "models/study/study.hpp"
#include "sim/answer/timed_workloads.hpp"

namespace stepcast {

enum class RowFormat { csv, json_lines, shard };

/// What a replay came to: a forecast, or why there is none.
struct ReplayAnswer {
  std::optional<StepForecast> forecast;
  std::string error;
};

struct PointRow {
  std::vector<std::string> texts;    ///< one for each format
  std::string error;                 ///< why the point has no answer; empty when it has one
  std::optional<double> difference;  ///< of the evaluators, if both were asked
  bool beyond_tolerance = false;
};

/// Makes rows: the report's columns, and at the end "error". A point without an answer has its axes and its error.
class PointRows {
 public:
  PointRows(const Study& study, std::vector<RowFormat> formats);

  [[nodiscard]] const std::vector<std::string>& columns() const { return names_; }

  /// The row of study.points[point], by equations and the given replays.
  /// @param replays  of questions_of(point), in that order; null for one that equations answer, in microseconds, which
  /// is less than looking their answer up would take
  [[nodiscard]] PointRow make(std::size_t point, const std::vector<const ReplayAnswer*>& replays);
  /// The row of a point that has no answer.
  [[nodiscard]] PointRow make_failed(std::size_t point, const std::string& error) const;

 private:
  void write(std::size_t point, const Row& row, PointRow& made) const;
  PointReport report(const StudyPoint& point, const std::vector<const ReplayAnswer*>& replays);

  const Study& study_;
  std::vector<RowFormat> formats_;
  std::vector<Metric> columns_;
  std::vector<std::string> names_;
  TimedWorkloads workloads_;
  RecentPrices prices_;
};

}  // namespace stepcast
