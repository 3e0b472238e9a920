// The JSON type, named but not defined: headers that only pass JSON on parse no library. json.hpp defines it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepcast {

/// This type keeps the key order: the scenario's order decides the order of the axes.
using Json = nlohmann::ordered_json;

}  // namespace stepcast
