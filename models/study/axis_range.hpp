// The values between two ends that one numeric field may take: whole numbers, real numbers, or quantities of a
// dimension; all of them, or those in even steps.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/describe/json.hpp"

namespace stepcast {

/// How values of one dimension, in SI, are written.
struct ValueUnit {
  std::string_view dimension;       ///< "bandwidth"
  std::string_view suffix;          ///< of names of columns: "_B_per_s"
  std::string (*exact)(double si);  ///< text that reads back to the very same value
  std::string (*human)(double si);
};

/// How values follow each other.
enum class Spacing { dense, added, factor };

struct AxisRange {
  double from = 0.0, to = 0.0;      ///< 0 <= from < to, quantities in SI
  bool whole = false;               ///< whole numbers only, every one of them where no spacing says otherwise
  const ValueUnit* unit = nullptr;  ///< none: bare numbers
  Spacing spacing = whole ? Spacing::added : Spacing::dense;
  double step = 1.0;  ///< added: > 0, in SI; factor: > 1; `to` is some steps from `from`

  /// Steps are factors where no end is zero, differences otherwise: the logarithm of the value, or the value.
  [[nodiscard]] double coordinate(double value) const;
  [[nodiscard]] double value_at(double coordinate) const;

  /// Whether values follow each other in steps. The rest is of such ranges only.
  [[nodiscard]] bool is_discrete() const { return spacing != Spacing::dense; }
  /// Steps from the first value to the last.
  [[nodiscard]] double steps() const;
  /// Steps from the first value to this one, which need not be whole.
  [[nodiscard]] double steps_to(double value) const;
  /// The value after so many steps.
  [[nodiscard]] double after(double steps) const;
};

/// Which numbers without a unit there are between two ends that are whole.
enum class BetweenWholes { whole_numbers, real_numbers };

/// Reads "100Mbps..100Gbps", "2..64", "0.1..0.9". ":STEP" after them allows every STEP-th ("8..64:8",
/// "1MiB..4MiB:1MiB"), ":xFACTOR" the first with that factor, again and again ("2..64:x2").
/// @throws std::invalid_argument that says what was found and what is allowed
AxisRange parse_axis_range(std::string_view text, BetweenWholes between = BetweenWholes::whole_numbers);

/// At most `count` values in order, both ends among them, in even steps of the coordinate. Those of a discrete range
/// are the nearest that it has, each there once, and all of them where there are no more than `count`.
/// @pre count >= 2
std::vector<double> grid_values(const AxisRange& range, std::size_t count);

/// The value as a scenario has it.
Json field_value(const AxisRange& range, double value);

/// The value as people read it: "2.31 Gb/s", "0.125", "16".
std::string human_value(const AxisRange& range, double value);

}  // namespace stepcast
