// Lower bounds on a cluster's latency and time per byte.
#pragma once

#include "models/collective/cost_counts.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// α and β of the best connection in the cluster: its fastest link, times the parallel links of a host. If neighbours
/// are a single hop apart, α is the latency of that hop.
PathPrice best_link(const Cluster& cluster);

/// The transport's factor on a link's latency, at best.
double latency_factor(const Cluster& cluster);

}  // namespace stepcast
