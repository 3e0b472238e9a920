// A report as text: table for people, CSV and JSON for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/report/metrics.hpp"
#include "models/report/report.hpp"

namespace stepcast {

/// Aligned columns with units, axes first; notes below.
std::string to_table(const Report& report);

/// The best points by a metric, the best first, with its column as the first. Points without the metric come last, and
/// so do points that do not fit their device, unless the metric is memory. Notes and counts are for the shown points
/// alone.
/// @param most  number of rows, for each combination of values of the axes `each`
/// @pre these are axes of the report
std::string to_ranking(Report report, const Metric& metric, std::size_t most,
                       const std::vector<std::string>& each = {});

/// RFC 4180: one header line with column names and units, one line for each point, numbers in their shortest exact
/// form.
std::string to_csv(const Report& report);

/// The JSON report. Its name is not to_json, which nlohmann/json looks up: {"schema_version", "manifest", "baseline",
/// "columns": {name: meaning}, "points": [{column: value}]}
Json report_document(const Report& report, const Json& manifest);

}  // namespace stepcast
