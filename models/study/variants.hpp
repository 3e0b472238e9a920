// Rules of a study's named variants (fields.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/scenario/fields.hpp"
#include "models/scenario/override.hpp"

namespace stepcast {

/// Checks that names are distinct and that each "set" is an object.
void check_variants(const std::vector<Variant>& variants, std::vector<Fault>& faults);

/// The loss of an override after the variants: a fault if nothing remains, a note if some variants set the same field
/// to another value.
struct LostOverride {
  std::optional<Fault> fault;
  std::optional<std::string> note;
};
LostOverride find_lost(const Override& change, const std::vector<Variant>& variants);

}  // namespace stepcast
