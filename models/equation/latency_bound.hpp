// Latencies that must follow each other.
#pragma once

#include "models/equation/traffic.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Of as many messages as each collective takes at least, at the best latency of all, and of the way that its data has
/// to the farthest worker; of gossip one message; of servers a push, and a pull after it.
Seconds latency_bound(const Traffic& traffic, const Cluster& cluster);

}  // namespace stepcast
