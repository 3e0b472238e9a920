// Workers of a replay with a shard on their host, and the bytes that leave their hosts.
#pragma once

#include <vector>

#include "models/part/cluster.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Whether a worker is on the shard's own host.
bool is_beside(int worker, int shard, const Cluster& cluster, const StepGraph& graph);

/// Bytes that a worker sends to shards on other hosts, shard_bytes[j] to each, or gets from them.
Bytes to_other_hosts(const std::vector<Bytes>& shard_bytes, int worker, const Cluster& cluster, const StepGraph& graph);

}  // namespace stepcast
