// A report for people: a table, with the notes that one should know below it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/report/metrics.hpp"
#include "models/report/report.hpp"
#include "models/report/table_options.hpp"

namespace stepcast {

/// Axes first, columns with units, notes below.
std::string to_table(const Report& report, const TableOptions& options = {});

/// The best points by a metric, the best first, with its column as the first. Points without the metric come last, and
/// so do points that do not fit their device, unless the metric is memory. Notes and counts are for the shown points
/// alone.
/// @param most  number of rows, for each combination of values of the axes `each`
/// @pre these are axes of the report
std::string to_ranking(Report report, const Metric& metric, std::size_t most, const std::vector<std::string>& each = {},
                       const TableOptions& options = {});

/// The metric of a column, by its head in tables, its name in files or its goal: "samples/s", "step_time_s", "step".
/// @throws std::invalid_argument with the names
const Metric& find_column(const std::string& name);

}  // namespace stepcast
