// The program's identity: version, source state, libraries.
#pragma once

#include <string>

#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// "stepcast 0.1.0 (git abc1234, SimGrid 3.32, g++ 12.2.0)"
std::string version_text();

/// "0.1.0"
std::string version_number();

/// The same as fields, for manifests.
Json version_fields();

/// Two programs of the same identity answer alike. It is version_text(); if the source is not that of a commit, the
/// digests of program and simulator are added.
std::string program_identity();

}  // namespace stepcast
