// Whether a scenario can be replayed folded, exactly.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Why the scenario's replay cannot be folded exactly, as in "full: ..."; nothing where it can.
std::optional<std::string> folding_refusal(const Scenario& scenario);

}  // namespace stepcast
