// What must pass the ways out of machines and racks, and hosts' own links where they may be unlike.
#pragma once

#include "models/equation/traffic.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Time that those ways need for a step's traffic, however it is scheduled: the busiest of them, and all of them
/// together.
Seconds ways_bound(const Traffic& traffic, const Cluster& cluster);

}  // namespace stepcast
