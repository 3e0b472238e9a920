// What tables call the values of an axis.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json.hpp"

namespace stepcast {

/// A list's values as text, each another: a name or kind where a value has one, else the value. Objects that would read
/// alike are told apart by what they differ in, "top-k (ratio=0.01)", and what that leaves alike, or too long for a
/// table, by its place, "#2".
std::vector<std::string> axis_labels(const Json& values);

}  // namespace stepcast
