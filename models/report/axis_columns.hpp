// The columns of a study's axes: values as the study writes them, and quantities once more in SI units.
#pragma once

#include <string>
#include <vector>

#include "models/report/metrics.hpp"
#include "models/study/axis_range.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// The dimension of each axis, whose suffix ends a column's name: "_B_per_s" for 10Gbps and 25Gbps. Null for numbers,
/// names, and axes whose values have several dimensions. Values without a unit, such as "auto", do not count.
AxisUnits axis_units(const Study& study);

/// A column for each axis, whose plain numbers are numbers, then one in SI for each axis with a unit:
/// "bandwidth" is "10Gbps", "bandwidth_B_per_s" is 1.25e9.
std::vector<Metric> axis_columns(const std::vector<std::string>& axes, const AxisUnits& units);

/// Whether a column is one of these, which points without an answer have, too.
bool is_axis_column(const Metric& column);

/// The units that lead to columns of these names: the axes, their columns in SI, then others.
AxisUnits axis_units_in(const std::vector<std::string>& columns, std::size_t axes);

}  // namespace stepcast
