// The stepcast program's knowledge of its options' values, for shell completion.
#pragma once

#include "program/complete.hpp"

namespace stepcast {

/// Names, JSON pointers, metrics, and axes of the study on the line. Never throws: a fault has no completions.
Completions known_values(const TypedPlace& asked);

}  // namespace stepcast
