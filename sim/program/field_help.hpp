// The meaning of a scenario's field, from the schema: for `stepcast show /strategy/exchange` and `show bucket_cap`.
#pragma once

#include <string>
#include <vector>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// The fields that `name` means, one object each: its pointer, meaning, default, values, unit and fields below. A name
/// without "/" means all fields whose pointer ends with it. Fields of several kinds that say the same are one.
std::vector<Json> field_help(const std::string& name);

/// The last parts of all pointers, for the nearest name.
std::vector<std::string> field_names();

}  // namespace stepcast
