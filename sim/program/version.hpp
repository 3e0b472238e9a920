// What this program is: version, source state, libraries.
#pragma once

#include <string>

#include "models/scenario/json.hpp"

namespace stepcast {

/// "stepcast 0.1.0 (git abc1234, SimGrid 3.32, g++ 12.2.0)"
std::string version_text();

/// The same as fields, for manifests.
Json version_fields();

}  // namespace stepcast
