// JSON pointers of a scenario's fields, for shell completion of --set and --along.
#pragma once

#include <string>

#include "program/complete.hpp"

namespace stepcast {

/// Fields one level below the typed text, as a shell completes folders. "/cluster/" has fields below,
/// "/cluster/workers=" takes a value.
/// @param partial      "/cluster/wo"
/// @param with_values  behind "=" choices and names of parts: "/strategy/kind=gossip", "/cluster=dgx-h100"
Completions pointers_at(const std::string& partial, bool with_values);

}  // namespace stepcast
