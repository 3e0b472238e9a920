// The axes of a scenario document as a whole.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// The pointers of the lists in places that take one value (axes.hpp), in document order. They cover the whole scenario
/// except the fields of the study.
std::vector<std::string> scenario_axes(const Json& document);

}  // namespace stepcast
