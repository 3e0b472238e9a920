// What no message of a cluster undercuts.
#pragma once

#include "models/collective/cost_counts.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// α and β of the best connection in the cluster: of its fastest link, of all links that a host has side by side, and
/// of one hop where neighbours are so near.
PathPrice best_link(const Cluster& cluster);

/// What the transport makes of a link's latency, at best.
double latency_factor(const Cluster& cluster);

}  // namespace stepcast
