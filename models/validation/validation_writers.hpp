// Validations as text: tables for people, CSV and JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"
#include "models/validation/validation.hpp"

namespace stepcast {

/// Title with the changes of the suite, source, one row for each measurement, then fitted constants and notes.
std::string to_table(const Validation& validation);

/// "NAME: 35 predictions, median |error| 6.1 %, largest -32 % (workers = 8); 41 of 44 pairs ordered as measured"
std::string summary_line(const Validation& validation);

/// One header line, one line for each row of all suites, numbers in SI (throughput: samples/s).
std::string to_csv(const std::vector<Validation>& validations);

/// {"schema_version", "columns": {name: meaning}, "suites": [{..., "rows", "summary", "manifest"}]}
/// @param manifests  one for each validation
Json validation_document(const std::vector<Validation>& validations, const std::vector<Json>& manifests);

}  // namespace stepcast
