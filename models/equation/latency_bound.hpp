// Lower bound on the latencies of messages that follow each other.
#pragma once

#include "models/equation/traffic.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Each collective has at least its minimum number of messages, at the cluster's best latency, and at least the latency
/// to the farthest worker. Gossip has one message a step. Servers have a push followed by a pull.
Seconds latency_bound(const Traffic& traffic, const Cluster& cluster);

}  // namespace stepcast
