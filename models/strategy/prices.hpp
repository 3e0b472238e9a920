// What a cluster's topology charges for the paths of collectives: α and β as the closed forms see them.
#pragma once

#include <span>

#include "models/collective/cost.hpp"
#include "models/scenario/cluster.hpp"

namespace stepcast {

/// Prices of a cluster for collectives among all its workers.
///
/// Star: exact. Machines of g GPUs with k NICs: one flow a machine on the neighbour path, g flows over k NICs
/// on the far path. Racks of m hosts, oversubscription o: one flow over the uplink (o/m of a link's worth), or
/// m. Fat tree, torus, dragonfly: no contention inside the fabric, latency of the longest minimal route.
/// With groups of their own links, the slowest link counts: a collective waits for it in every round.
Prices collective_prices(const Cluster& cluster);

/// What a push to (or pull from) shards amounts to on the cluster: shard_exchange_cost (collective/direct.hpp),
/// and on nodes and racks at least what the busiest NIC or uplink must carry, in bytes of a host's link. Of co-located shards
/// on these, that is exact where all workers hold equal ones and latency is no matter: every message between groups then
/// crosses a way as busy as any. Elsewhere no fair sharing is faster.
CostTerms shard_terms(std::span<const Bytes> shard_bytes, const Cluster& cluster, bool co_located);

/// Whether collective_prices is exact (star with like links) or an estimate that only replay refines.
bool prices_are_exact(const Cluster& cluster);

/// Workers on one machine or in one rack, the natural group of a hierarchical collective; 1 otherwise.
int natural_group(const Cluster& cluster);

}  // namespace stepcast
