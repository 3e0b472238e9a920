// An axis of a study, by what people call it.
#pragma once

#include <cstddef>
#include <string>

#include "models/study/study.hpp"

namespace stepcast {

/// The number of the axis that has this name or pointer.
/// @throws std::invalid_argument that says which axes there are, and the one that may be meant
std::size_t find_axis(const Study& study, const std::string& name);

}  // namespace stepcast
