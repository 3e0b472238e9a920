// Lower bound from the ways out of machines and racks, and from hosts' own links if they may be unequal.
#pragma once

#include "models/equation/traffic.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// The time of these ways for a step's traffic under any
/// schedule: the larger time of the busiest way and of all ways together.
Seconds ways_bound(const Traffic& traffic, const Cluster& cluster);

}  // namespace stepcast
