// The strategy of a scenario's document, with the defaults of its stack.
#pragma once

#include <optional>
#include <vector>

#include "models/describe/json.hpp"
#include "models/scenario/document.hpp"

namespace stepcast {

/// The document with the fields of /strategy that it does not give, from the entry of that kind in /stack/strategies.
/// Without a strategy, or without its kind, the first entry counts. A given bucket_cap leaves out the entry's
/// first_bucket. A collective alone needs no entry. Nothing if the stack has no such list.
/// @param impossible  gets a strategy that the stack cannot carry out
std::optional<Json> with_strategy_of_stack(const Document& document, std::vector<Fault>& impossible);

}  // namespace stepcast
