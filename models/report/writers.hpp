// A report for programs: CSV and JSON.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/report/metrics.hpp"
#include "models/report/report.hpp"

namespace stepcast {

/// The columns of a CSV file beside the axes.
struct CsvColumns {
  bool with_empty = true;               ///< also columns without a value at any point
  std::vector<const Metric*> chosen{};  ///< these alone; empty: all
};

/// RFC 4180: one header line with column names and units, one line for each point, numbers in their shortest exact
/// form.
std::string to_csv(const Report& report, const CsvColumns& which = {});

/// The JSON report. Its name is not to_json, which nlohmann/json looks up: {"schema_version", "manifest", "baseline",
/// "columns": {name: meaning}, "points": [{column: value}]}
Json report_document(const Report& report, const Json& manifest);

}  // namespace stepcast
