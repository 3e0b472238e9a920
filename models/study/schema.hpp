// The JSON Schema (draft-07) of scenarios, generated from the same describe() functions that the reader uses,
// so that editors and reader agree. scenarios/scenario.schema.json is this function's output; a test keeps
// the two equal.
#pragma once

#include <string>
#include <string_view>

#include "models/describe/json.hpp"

namespace stepcast {

/// Schema of a whole scenario or study.
Json scenario_schema();

/// Schema of one part's own file: "workload", "profile", "cluster", "strategy", "compressor" or "suite".
Json part_schema(std::string_view part);

/// Whether the field of a scenario at this JSON pointer takes real numbers, in all parts that have it (of every kind of
/// strategy, say); false where it takes whole ones, or none.
bool takes_fractions(const std::string& pointer);

}  // namespace stepcast
