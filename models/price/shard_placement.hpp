// Where the shards of a parameter server are: the one place that knows.
#pragma once

#include "models/part/cluster.hpp"

namespace stepcast {

/// Rank of the host of shard j, of `shards`. Dedicated ones follow the p workers: p + j. Co-located ones are spread
/// over what workers share ways out of, as real systems have a server process on every machine:
///
///     nodes, racks                   dealt to the machines (racks) in turn, to the first worker of each, then to the
///                                    second and so on, as long as it has workers without one: their numbers differ by
///                                    one at most, and a machine's take its NICs in turn (Nics::gpu_in_turn, which
///                                    with nic_of_gpu neighbours begins with the last worker of each NIC)
///     fat tree, torus, dragonfly     beside every p/M-th worker: rank j·p/M
///     star, platform file            beside worker j
///
/// @pre 0 <= j < shards, and shards <= p where they are co-located
int shard_host(const Cluster& cluster, int shards, bool co_located, int j);

}  // namespace stepcast
