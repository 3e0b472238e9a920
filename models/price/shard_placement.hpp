// The placement of parameter-server shards. No other code decides it.
#pragma once

#include "models/part/cluster.hpp"

namespace stepcast {

/// The rank of the host of shard j, among `shards`. Dedicated shards follow the p workers: p + j. Co-located shards are
/// spread over the workers' shared ways out, since real systems have a server process on every machine:
///
///     nodes, racks                   in turn over the machines (racks): first beside the first worker of each, then
///                                    the second, as long as it has workers without a shard. The counts differ by at
///                                    most one. A machine's shards take its NICs in turn (Nics::gpu_in_turn, which
///                                    starts with the last worker of each NIC if nic_of_gpu is neighbours)
///     fat tree, torus, dragonfly     beside every p/M-th worker: rank j·p/M, M = shards
///     star, platform file            beside worker j
///
/// @pre 0 <= j < shards; co-located: shards <= p
int shard_host(const Cluster& cluster, int shards, bool co_located, int j);

}  // namespace stepcast
