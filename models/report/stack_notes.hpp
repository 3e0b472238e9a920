// Notes on the software that a forecast assumes.
#pragma once

#include "models/describe/note.hpp"
#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Notes that no stack is named, and which shipped one the scenario resembles; or which of its stack's constants were
/// not measured.
void add_stack_notes(const Scenario& scenario, Notes& notes);

}  // namespace stepcast
