// The strategy of a scenario's document, with the defaults of its stack.
#pragma once

#include <vector>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"

namespace stepcast {

/// Fills in the fields of /strategy that the document does not give from the entry of its kind in /stack/strategies,
/// and removes these. Without a strategy, it takes the first entry. A collective alone needs no entry. The document
/// stays as it is without such a list.
/// @param impossible  gets a strategy that the stack cannot carry out
Json with_strategy_of_stack(const Json& document, std::vector<Fault>& impossible);

}  // namespace stepcast
