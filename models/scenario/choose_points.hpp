// Some of a study's points, by their coordinates.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/study.hpp"

namespace stepcast {

/// Keeps the points that have, on each axis that is named, one of the values named for it.
/// @param choices  "AXIS=VALUE": an axis by its name or pointer, a value as the axis' coordinates have it
/// @throws std::invalid_argument for what is no such text, axis or value, and where no point is left
void choose_points(Study& study, const std::vector<std::string>& choices);

}  // namespace stepcast
