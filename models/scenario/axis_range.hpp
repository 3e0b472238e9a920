// The values between two ends that one numeric field may take: whole numbers, real numbers, or quantities of a dimension.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/part/json.hpp"

namespace stepcast {

/// How values of one dimension, in SI, are written.
struct ValueUnit {
  std::string_view dimension;       ///< "bandwidth"
  std::string_view suffix;          ///< of names of columns: "_B_per_s"
  std::string (*exact)(double si);  ///< text that reads back to the very same value
  std::string (*human)(double si);
};

struct AxisRange {
  double from = 0.0, to = 0.0;      ///< 0 <= from < to, quantities in SI
  bool whole = false;               ///< whole numbers only
  const ValueUnit* unit = nullptr;  ///< none: bare numbers

  /// Steps are factors where no end is zero, differences otherwise: the logarithm of the value, or the value.
  [[nodiscard]] double coordinate(double value) const;
  [[nodiscard]] double value_at(double coordinate) const;
};

/// Reads "100Mbps..100Gbps", "2..64", "0.1..0.9". Two whole numbers allow whole numbers only.
/// @throws std::invalid_argument that says what was found and what is allowed
AxisRange parse_axis_range(std::string_view text);

/// At most `count` values in order, both ends among them, in even steps of the coordinate. Whole numbers are rounded, each there
/// once, and all of them where there are no more than `count`.
/// @pre count >= 2
std::vector<double> grid_values(const AxisRange& range, std::size_t count);

/// The value as a scenario has it.
Json field_value(const AxisRange& range, double value);

/// The value as people read it: "2.31 Gb/s", "0.125", "16".
std::string human_value(const AxisRange& range, double value);

}  // namespace stepcast
