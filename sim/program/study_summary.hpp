// A study in a few lines: for `stepcast show FILE`.
#pragma once

#include <string>

#include "models/study/study.hpp"

namespace stepcast {

/// What is trained, on which machines, how gradients are exchanged, and the axes with their values. With several
/// points, parts are those of the first.
/// @pre the study has a point
std::string summary_of(const Study& study);

}  // namespace stepcast
