// Some of a study's points, by their coordinates.
#pragma once

#include <string>
#include <vector>

#include "models/study/study.hpp"

namespace stepcast {

/// Keeps the points that have, on each axis that is named, one of the values named for it.
/// @param choices  "AXIS=VALUE": an axis by its name or pointer, a value as the axis' coordinates have it
/// @throws std::invalid_argument for what is no such text, axis or value, and where no point is left
void choose_points(Study& study, const std::vector<std::string>& choices);

/// Of the points that these choices keep, where they name axes and values of the study; of others it may be of none.
PointFilter filter_of(const std::vector<std::string>& choices);

/// The axis, or the value of one, that may have been meant; "" when none is near enough. Nothing is guessed of one or
/// two characters: any short number is near any other.
std::string nearest_coordinate(const std::string& name, const std::vector<std::string>& known);

/// That `value` is none of the axis' values, which they are, and the one that may have been meant.
std::string no_such_value(const std::string& axis, const std::string& value, const std::vector<std::string>& values);

}  // namespace stepcast
