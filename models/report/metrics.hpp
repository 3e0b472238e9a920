// Metrics: what a report says of a point. One table (metrics.cpp) serves CSV, JSON and shards, the text table, `--by`,
// `solve`, `crossover` and `validate`: a metric is added by a row of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/report/metric_unit.hpp"
#include "models/report/report.hpp"

namespace stepcast {

enum class Better { more, less };

struct Metric {
  std::string name;  ///< of its column in files, with its unit: "step_time_s"; empty: the text table alone has it
  std::string meaning;
  const MetricUnit* unit = nullptr;                 ///< null where the text table alone has it
  std::function<Cell(const PointReport&)> value{};  ///< empty likewise

  /// Points are compared by it, and held to it, where it has a name as a goal.
  struct Compared {
    std::string_view goal{};   ///< on the command line: "step"
    std::string_view title{};  ///< "step time"
    Better better = Better::more;
    std::string_view score{};      ///< of what crossover compares by: the name of what score_of is, in JSON
    bool may_lack_memory = false;  ///< also of points that do not fit their device
  } compared{};

  /// The text table has a column of it where it has a head.
  struct Shown {
    std::string_view head{};                            ///< "step"
    bool (*asked)(const PointReport&) = nullptr;        ///< by some point; null: points that have a value ask for it
    std::string (*cell)(const PointReport&) = nullptr;  ///< null: the value in its unit, "-" where there is none
  } shown{};

  std::string_view measured{};  ///< in suites, where these may measure it: "step_time"
};

/// All of them, in the order of columns.
const std::vector<Metric>& metrics();

/// The metric's number at a point, if it has one there.
std::optional<double> number_of(const Metric& metric, const PointReport& point);

/// What the text table shows of it, and whether this point asks for its column.
std::string table_cell(const Metric& metric, const PointReport& point);
bool is_shown(const Metric& metric, const PointReport& point);

inline bool has_large_gap(const PointReport& point) { return point.gap > kLargeGap - 1.0; }

/// The columns of files: the study's axes, then metrics, but for those that an axis says already.
std::vector<Metric> report_columns(const Report& report);

}  // namespace stepcast
