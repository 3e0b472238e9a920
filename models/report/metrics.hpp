// Metrics: the quantities that a report gives for a point.
//
// One table (metrics.cpp) serves CSV, JSON and shards, the text table, `--by`, `solve`, `crossover` and `validate`. A
// new metric is a new row of it.
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
  std::string name;  ///< column name in files, with its unit: "step_time_s"; empty: not in files
  std::string meaning;
  const MetricUnit* unit = nullptr;                 ///< null: not in files
  std::function<Cell(const PointReport&)> value{};  ///< empty: not in files

  /// A metric with a goal's name can be asked for by --by and --for.
  struct Compared {
    std::string_view goal{};   ///< on the command line: "step"
    std::string_view title{};  ///< "step time"
    Better better = Better::more;
    std::string_view score{};      ///< crossover's name for the score in JSON
    bool may_lack_memory = false;  ///< also allowed for points that do not fit their device
  } compared{};

  /// A metric with a head can be a column of the text table.
  struct Shown {
    std::string_view head{};  ///< "step"
    /// Whether a point asks for the column; null: every point with a value does.
    bool (*asked)(const PointReport&) = nullptr;
    std::string (*cell)(const PointReport&) = nullptr;  ///< null: the value in its unit, "-" for none
    int weight = 0;  ///< a narrow terminal drops the columns of the least weight first
    std::string_view (*mark)(const PointReport&) = nullptr;  ///< behind the value: "!" or ""; null: never
  } shown{};

  std::string_view measured{};  ///< the quantity's name in suites: "step_time"; empty: not in suites
};

/// All metrics, in the order of columns.
const std::vector<Metric>& metrics();

/// The metric's number at a point, if it has one there.
std::optional<double> number_of(const Metric& metric, const PointReport& point);

/// The metric's cell in the text table, and whether this point asks for its column.
std::string table_cell(const Metric& metric, const PointReport& point);
bool is_shown(const Metric& metric, const PointReport& point);

inline bool has_large_gap(const PointReport& point) { return point.gap > kLargeGap - 1.0; }

/// The columns of files: the study's axes (axis_columns.hpp), then the metrics, without those that an axis shows already.
std::vector<Metric> report_columns(const Report& report);

}  // namespace stepcast
