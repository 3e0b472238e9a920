// A report as text: table for people, CSV and JSON for programs.
#pragma once

#include <string>

#include "models/part/json.hpp"
#include "models/report/report.hpp"

namespace stepcast {

/// Aligned columns with units, axes first; notes below.
std::string to_table(const Report& report);

/// RFC 4180: one header line with the column names (units in them), one line a point, numbers in their
/// shortest exact form.
std::string to_csv(const Report& report);

/// The JSON report (not called to_json, a name that nlohmann/json looks up):
/// {"schema_version", "manifest", "baseline", "columns": {name: meaning}, "points": [{column: value}]}
Json report_document(const Report& report, const Json& manifest);

}  // namespace stepcast
