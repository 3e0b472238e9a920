// Labels for the values of an axis in tables.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// A list's values as text, all different. A label is the value's name or kind if it has one, else the value. Objects
/// with equal labels show their differences, "top-k (ratio=0.01)". A value whose label is still not unique, or too long
/// for a table, shows its place, "#2".
std::vector<std::string> axis_labels(const Json& values);

/// A label in JSON: a plain number is one, any other label a text.
Json label_json(const std::string& label);

}  // namespace stepcast
