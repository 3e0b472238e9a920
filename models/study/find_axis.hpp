// Finds an axis of a study by the name that people use for it.
#pragma once

#include <cstddef>
#include <string>

#include "models/study/study.hpp"

namespace stepcast {

/// The index of the axis with this name or pointer.
/// @throws std::invalid_argument with the known axes and a suggestion
std::size_t find_axis(const Study& study, const std::string& name);

}  // namespace stepcast
