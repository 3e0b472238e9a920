// Finds equal values on an axis.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/document.hpp"

namespace stepcast {

/// A fault for each value of the axis that is there a second time. If changes made the values equal, it names these.
std::vector<Fault> repeated_values(const Document& document, const std::string& axis, const Json& values);

}  // namespace stepcast
