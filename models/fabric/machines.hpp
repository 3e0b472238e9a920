// What a topology groups workers by.
#pragma once

#include "models/collective/collective.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Workers on one machine or in one rack, the natural group of a hierarchical collective; 1 otherwise.
int natural_group(const Cluster& cluster);

/// What such a group is called.
const char* group_name(const Cluster& cluster);

/// Those workers with the NICs that they share.
Machines machines(const Cluster& cluster);

/// Bandwidth of an uplink out of a rack of machines. @pre nodes.racks
BytesPerSecond rack_uplink(const Cluster& cluster, const Nodes& nodes);

/// The topology where machines stand in racks; null otherwise.
const Nodes* nodes_in_racks(const Cluster& cluster);

/// Whether so many machines need several racks, and it matters which messages leave one, since prices know none between
/// machines that stays in its rack: uplinks have a latency, or carry less than the rack's NICs.
bool uplinks_matter(const Cluster& cluster, int machines);

/// Whether messages take several links between switches or hosts: fat tree, torus, dragonfly.
bool has_inner_hops(const Cluster& cluster);

}  // namespace stepcast
