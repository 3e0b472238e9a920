// A study's answers as rows of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/report/failed_rows.hpp"
#include "models/report/metrics.hpp"
#include "models/study/study.hpp"
#include "sim/answer/answer_point.hpp"

namespace stepcast {

enum class RowFormat { csv, json_lines, shard };

struct PointRow {
  std::vector<std::string> texts;    ///< one for each format
  std::string error;                 ///< the reason for having no answer; empty if there is one
  std::optional<double> difference;  ///< between the evaluators, if both were asked
  double tolerance = 0;              ///< tolerance of the difference
};

/// A row as text, for other processes.
std::string pack(const PointRow& row);
PointRow unpack_row(std::string_view packed);

/// Makes rows of the report's columns, with "error" as the last column. A point without an answer has only its axes and
/// its error.
class PointRows {
 public:
  PointRows(const Study& study, std::vector<RowFormat> formats);

  [[nodiscard]] const std::vector<std::string>& columns() const { return names_; }
  /// The row of study.points[point].
  [[nodiscard]] PointRow make(std::size_t point, const PointAnswer& answer) const;

 private:
  const Study& study_;
  std::vector<RowFormat> formats_;
  std::vector<Metric> columns_;
  std::vector<std::string> names_;
};

}  // namespace stepcast
