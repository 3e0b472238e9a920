// The axes of a scenario document as a whole.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json.hpp"

namespace stepcast {

/// The pointers of the lists that stand where one value is wanted (axes.hpp), in document order; of the whole scenario
/// but for the fields of the study.
std::vector<std::string> scenario_axes(const Json& document);

}  // namespace stepcast
