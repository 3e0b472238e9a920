// Rules of a study's named variants (fields.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/scenario/document.hpp"
#include "models/scenario/fields.hpp"

namespace stepcast {

/// Names are each another's, what is set is an object.
void check_variants(const std::vector<Variant>& variants, std::vector<Fault>& faults);

/// What variants, applied after an override, leave of it: a fault where that is nothing, a note where some set the same
/// field to another value.
struct LostOverride {
  std::optional<Fault> fault;
  std::optional<std::string> note;
};
LostOverride find_lost(const Override& change, const std::vector<Variant>& variants);

}  // namespace stepcast
