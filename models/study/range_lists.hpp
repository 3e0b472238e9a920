// Ranges in place of lists: "1kB..8GB:x2" for a size, "8..64:8" for a number of workers.
#pragma once

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// Replaces each text that is a range in steps (axis_range.hpp) by the list of its values, which makes an axis. Names and
/// descriptions stay, and so do texts that are no such range: the reader refuses them as values of their fields.
void expand_ranges(Json& json);

/// The schema of such a text.
Json range_schema();

}  // namespace stepcast
