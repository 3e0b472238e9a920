// The prices of a topology's paths for collectives: α and β as the closed forms use them.
#pragma once

#include "models/collective/cost_counts.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Prices of a cluster for collectives among all its workers.
///
/// Star: exact. The α of a ring is the mean over its messages (collective/ring_latencies.hpp); with ring_latency
/// slowest, it is the longest. Machines of g GPUs with k NICs have one flow per machine on the ring and neighbour
/// paths. The far path has g flows over k NICs. In racks of m machines with oversubscription o, the uplink carries one
/// flow, or m·g. Racks of m hosts: one flow over the uplink (with the bandwidth of m/o links), or m. Fat tree, torus,
/// dragonfly: no contention inside the fabric, and the latency of the longest minimal route. With links that differ
/// between groups, the slowest link counts: a collective waits for it in every round. Messages between machines have no
/// more bandwidth than their connections, each as if it were alone.
Prices collective_prices(const Cluster& cluster);

/// Whether a stack's slices make rounds overlap (round_pace.hpp). Counts of whole collectives do not price this.
bool rounds_overlap(const Cluster& cluster);

/// Whether collective_prices is exact (star with equal links, ideal transport, no slices, no limit by connections) or an
/// estimate.
bool prices_are_exact(const Cluster& cluster);

/// The same for exchanges with servers and neighbours, which have no rounds.
bool direct_prices_are_exact(const Cluster& cluster);

/// The lowest bandwidth among the workers' links, and the largest end-to-end latency between two workers.
/// Each end adds half of its link's latency.
PathPrice worst_link(const Cluster& cluster);

/// Whether all workers have the plain link, like servers.
bool links_are_alike(const Cluster& cluster);

/// Whether the cluster is a star whose hosts all have the same link.
bool is_plain_star(const Cluster& cluster);

}  // namespace stepcast
