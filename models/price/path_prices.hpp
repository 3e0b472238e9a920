// What a cluster's topology charges for the paths of collectives: α and β as the closed forms see them.
#pragma once

#include "models/collective/cost_counts.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Prices of a cluster for collectives among all its workers.
///
/// Star: exact. A ring's α is the mean over its messages (collective/ring_latencies.hpp), or with ring_latency slowest
/// the longest. Machines of g GPUs with k
/// NICs: one flow a machine on the paths of rings and neighbours, g flows over k NICs on the far path; in racks of m
/// machines, oversubscription o, the uplink carries one flow, or m·g. Racks of m hosts: one flow over the uplink (o/m
/// of a link's worth), or m. Fat tree, torus, dragonfly: no contention inside the fabric, latency of the longest
/// minimal route. With groups of their own links, the slowest link counts: a collective waits for it in every round.
Prices collective_prices(const Cluster& cluster);

/// Whether collective_prices is exact (star with like links, ideal transport) or an estimate.
bool prices_are_exact(const Cluster& cluster);

/// The slowest link among the workers', and the largest end-to-end latency between two of them. Each end adds half of
/// its link's latency.
PathPrice worst_link(const Cluster& cluster);

/// Whether all workers have the plain link, as servers do.
bool links_are_alike(const Cluster& cluster);

/// A star whose hosts all have the same link.
bool is_plain_star(const Cluster& cluster);

}  // namespace stepcast
