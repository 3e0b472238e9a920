// The JSON Schema (draft-07) of scenarios. The reader's describe() functions
// generate it, so editors and reader agree. scenarios/scenario.schema.json
// is this function's output; a test keeps the two equal.
#pragma once

#include <string>
#include <string_view>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// Schema of a whole scenario or study.
Json scenario_schema();

/// Schema of the file of one part: "workload", "profile", "cluster", "stack", "strategy", "compressor" or "suite".
Json part_schema(std::string_view part);

/// Whether the field at this JSON pointer takes real numbers in all parts that have it (for example in every kind of
/// strategy). False if it takes only integers, or no numbers.
bool takes_fractions(const std::string& pointer);

}  // namespace stepcast
