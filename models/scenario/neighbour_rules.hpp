// Rules of the graphs of decentralized SGD.
#pragma once

#include <vector>

#include "models/collective/neighbours.hpp"
#include "models/describe/fault.hpp"

namespace stepcast {

/// Appends faults of a graph that has no place for some of the workers, leaves some apart, or has too many messages.
void check_neighbours(const Neighbours& neighbours, int workers, std::vector<Fault>& faults);

}  // namespace stepcast
