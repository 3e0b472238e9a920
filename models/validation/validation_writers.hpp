// Validations as text: tables for people, CSV and JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/validation/validation.hpp"

namespace stepcast {

/// Title with the changes of the suite, source, one row for each measurement, then fitted constants and notes.
std::string to_table(const Validation& validation);

/// A row for each suite: the summary of its errors, Kendall's tau, and its worst row. The last row is over all suites, if
/// there are several.
std::string summary_table(const std::vector<Validation>& validations);

/// A line of such a table.
struct NamedSummary {
  std::string name;
  ValidationSummary summary;
  std::string worst;  ///< the row of the largest error; "" if not said
};
std::string summaries_text(const std::vector<NamedSummary>& summaries);

/// {"name", "predictions", "median_absolute_error", ...}
Json to_json(const NamedSummary& summary);

/// The errors of all suites by number of workers.
std::string workers_table(const std::vector<Validation>& validations);

/// One header line, one line for each row of all suites, numbers in SI (throughput: samples/s).
std::string to_csv(const std::vector<Validation>& validations);

/// {"schema_version", "columns": {name: meaning}, "suites": [{..., "rows", "summary", "by_workers", "manifest"}],
/// "summary", "by_workers"}
/// @param manifests  one for each validation
Json validation_document(const std::vector<Validation>& validations, const std::vector<Json>& manifests);

}  // namespace stepcast
