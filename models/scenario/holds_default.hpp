// Compares a scenario's fields with their defaults.
#pragma once

#include <string_view>

#include "models/scenario/scenario.hpp"

namespace stepcast {

/// Whether the field at `pointer` has its default. The pointer may lead into the strategy, compressor, codec settings,
/// cluster or evaluation, or to a field of
/// the workload in sometimes_fields (without_effect.hpp).
bool holds_default(const Scenario& scenario, std::string_view pointer);

}  // namespace stepcast
