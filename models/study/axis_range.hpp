// A range of values for one numeric field: integers, real numbers, or quantities of one dimension. It contains all
// values between its ends, or values in even steps.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// The text forms of values of one dimension; values are in SI.
struct ValueUnit {
  std::string_view dimension;       ///< "bandwidth"
  std::string_view suffix;          ///< suffix of column names: "_B_per_s"
  std::string (*exact)(double si);  ///< text that reads back to the same value
  std::string (*human)(double si);
  std::optional<double> (*read)(std::string_view text);  ///< the SI value; empty for other texts
};

/// All dimensions. No two have a unit in common.
std::span<const ValueUnit> value_units();

/// A value as it is written: a number, or a quantity of one dimension.
struct WrittenValue {
  double value = 0.0;  ///< in SI
  bool whole = false;
  const ValueUnit* unit = nullptr;  ///< of value_units(); null: a number
};
/// Empty for a text that is neither.
std::optional<WrittenValue> read_written(std::string_view text);

/// The spacing of neighbouring values.
enum class Spacing { dense, added, factor };

struct AxisRange {
  double from = 0.0, to = 0.0;      ///< 0 <= from < to, quantities in SI
  bool whole = false;               ///< integers only; every integer, unless a spacing is given
  const ValueUnit* unit = nullptr;  ///< null: numbers without a unit
  Spacing spacing = whole ? Spacing::added : Spacing::dense;
  double step = 1.0;  ///< added: > 0, in SI; factor: > 1; `to` is a whole number of steps from `from`

  /// The coordinate is the logarithm if no end is zero, otherwise the value: steps are factors or differences.
  [[nodiscard]] double coordinate(double value) const;
  [[nodiscard]] double value_at(double coordinate) const;

  /// Whether values come in steps. The functions below are only for such ranges.
  [[nodiscard]] bool is_discrete() const { return spacing != Spacing::dense; }
  /// Number of steps from the first value to the last.
  [[nodiscard]] double steps() const;
  /// Number of steps from the first value to `value`, possibly fractional.
  [[nodiscard]] double steps_to(double value) const;
  /// The value after `steps` steps.
  [[nodiscard]] double after(double steps) const;
};

/// The numbers without a unit between two integer ends.
enum class BetweenWholes { whole_numbers, real_numbers };

/// Whether steps have to reach the last end, or may stop before it as nccl-tests' sizes do.
enum class LastEnd { reached, within };

/// Reads "100Mbps..100Gbps", "2..64", "0.1..0.9". A suffix ":STEP" allows every STEP-th value ("8..64:8",
/// "1MiB..4MiB:1MiB"). A suffix ":xFACTOR" allows repeated multiplication ("2..64:x2").
/// @throws std::invalid_argument with the text found and the allowed forms
AxisRange parse_axis_range(std::string_view text, BetweenWholes between = BetweenWholes::whole_numbers,
                           LastEnd last = LastEnd::reached);

/// At most `count` values in order, including both ends, in even steps of the coordinate. For a discrete range, they
/// are its nearest values, each once. If it has at most `count` values, all of them are returned.
/// @pre count >= 2
std::vector<double> grid_values(const AxisRange& range, std::size_t count);

/// The value in a scenario's form.
Json field_value(const AxisRange& range, double value);

/// The value in a form for people: "2.31 Gb/s", "0.125", "16".
std::string human_value(const AxisRange& range, double value);

}  // namespace stepcast
