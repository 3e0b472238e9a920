// Rows of a report as text: CSV, JSON lines, and the lines of a shard, which keep the cells' types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// A phase of a run. JSON has it as an object; CSV as "name: epochs x steps_per_epoch x step_time_s s + before_s s".
struct PhaseCell {
  std::string name;
  std::int64_t epochs = 0, steps_per_epoch = 0;
  double step_time_s = 0;
  double before_s = 0;  ///< paid once
  double time_s = 0;    ///< of the phase
  bool operator==(const PhaseCell&) const = default;
};

/// Nothing, a truth value, a count, a number, a text, or a list of texts or phases, which CSV joins by "; ".
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>,
                          std::vector<PhaseCell>>;

/// The type of a column's non-empty cells.
/// A value is a number or a text.
enum class CellKind { truth, count, number, text, texts, phases, value };

/// Whether a column of this kind can hold the cell. Every column can hold nothing, and a count is also a number.
bool holds(CellKind kind, const Cell& cell);

using Row = std::vector<Cell>;

/// null without a value.
Json json_of(const Cell& cell);

/// Cells joined by commas, numbers in their shortest exact form, and a line feed (RFC 4180). A number that is not
/// finite is left out, as if there were no value.
std::string csv_row(const Row& row);
std::string csv_header(const std::vector<std::string>& names);

/// {"name": value, ...} on one line, null without a value. Counts have no decimal point, numbers have one.
std::string json_row(const std::vector<std::string>& names, const Row& row);

/// [number, [cell, ...]] on one line.
std::string numbered_row(std::size_t number, const Row& row);

struct NumberedRow {
  std::size_t number = 0;
  Row row;
};

/// Reads a line of numbered_row.
/// @throws std::runtime_error for another line
NumberedRow parse_numbered_row(std::string_view line);

}  // namespace stepcast
