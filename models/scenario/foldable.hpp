// Checks whether the folded replay of a scenario is exact.
#pragma once

#include <optional>
#include <string>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// The reason where workers that differ by chance exchange messages of their own.
inline constexpr const char* kUnlike = "jitter makes every worker different";

/// The reason why the folded replay would not be exact, as in "full: ..."; empty if it is exact.
std::optional<std::string> folding_refusal(const Scenario& scenario);

}  // namespace stepcast
