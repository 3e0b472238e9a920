// Finds a field by the end of its pointer, as people type it: "bandwidth" for /cluster/link/bandwidth.
#pragma once

#include <string>

#include "models/study/study.hpp"

namespace stepcast {

/// The pointer of the axis with this name, or else of the one field that ends with it. Fields are those of the study's
/// first point, with all defaults; fields inside lists have no name of their own.
/// @throws std::invalid_argument with the pointers to choose from, or the nearest name
std::string find_field(const Study& study, const std::string& name);

}  // namespace stepcast
