// The columns of a report, once for table, CSV and JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/report/report.hpp"

namespace stepcast {

/// A cell: nothing, a yes or no, a count, a number, a text, or texts, which CSV joins by "; ".
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;

/// What a column's cells hold where they hold anything.
enum class CellKind { truth, count, number, text, texts };

struct Column {
  std::string name;  ///< in files, with its unit: "step_time_s"
  std::string meaning;
  std::function<Cell(const PointReport&)> cell;
  CellKind kind = CellKind::number;

  /// Whether the column can hold it, or nothing; a count is a number too.
  [[nodiscard]] bool holds(const Cell& value) const;
};

/// Every column of the files, the study's axes first.
std::vector<Column> report_columns(const Report& report);

}  // namespace stepcast
