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

/// The best points by a metric, the best first, with its column as the first; those without it, and those that do not fit
/// their device unless memory is asked for, come last. Notes and counts below are of these alone.
/// @param most  rows, for each combination of values of the axes `each`
/// @pre these are axes of the report
std::string to_ranking(Report report, const Metric& metric, std::size_t most,
                       const std::vector<std::string>& each = {});

/// RFC 4180: one header line with the column names (units in them), one line a point, numbers in their
/// shortest exact form.
std::string to_csv(const Report& report);

/// The JSON report (not called to_json, a name that nlohmann/json looks up):
/// {"schema_version", "manifest", "baseline", "columns": {name: meaning}, "points": [{column: value}]}
Json report_document(const Report& report, const Json& manifest);

}  // namespace stepcast
