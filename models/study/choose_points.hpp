// Selects points of a study by their coordinates.
#pragma once

#include <string>
#include <vector>

#include "models/study/study.hpp"

namespace stepcast {

/// Keeps the points whose value on each named axis is one of the values named for it.
/// @param choices  "AXIS=VALUE": an axis by name or pointer, a value as in the coordinates
/// @throws std::invalid_argument for another form of text, an unknown axis or value, or if no point is left
void choose_points(Study& study, const std::vector<std::string>& choices);

/// A filter for the points that these choices keep. It may also pass other points if a choice is unknown to the study.
PointFilter filter_of(const std::vector<std::string>& choices);

/// The axis or value with the most similar name; "" if none is similar. For one or two characters it suggests nothing,
/// since any short number is similar to any other.
std::string nearest_coordinate(const std::string& name, const std::vector<std::string>& known);

/// The message that `value` is not among the axis's values, with the list of them and a suggestion.
std::string no_such_value(const std::string& axis, const std::string& value, const std::vector<std::string>& values);

}  // namespace stepcast
