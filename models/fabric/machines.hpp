// The groups of workers in a topology.
#pragma once

#include <vector>

#include "models/collective/collective.hpp"
#include "models/part/cluster.hpp"

namespace stepcast {

/// Properties that rooms above ask of a topology, instead of its name.
struct TopologyTraits {
  std::vector<int> levels{};    ///< workers in a group of each level, without the largest
  bool is_tree = false;         ///< its switches are a tree, at whose root a sum of all hosts can be made
  bool has_inner_hops = false;  ///< messages cross several links between switches or hosts
  /// Steps with servers approach their period over many steps, since workers wait for links that differ.
  bool servers_settle_slowly = false;
};

TopologyTraits traits(const Topology& topology);

/// Number of workers on one machine or in one rack, the natural group of a hierarchical collective; 1 otherwise.
int natural_group(const Cluster& cluster);

/// The word for such a group in messages.
const char* group_name(const Cluster& cluster);

/// These groups with the NICs that their workers share.
Machines machines(const Cluster& cluster);

/// Bandwidth of an uplink out of a rack of machines. @pre nodes.racks
BytesPerSecond rack_uplink(const Cluster& cluster, const Nodes& nodes);

/// The topology if its machines are in racks; null otherwise.
const Nodes* nodes_in_racks(const Cluster& cluster);

/// Whether this many machines need several racks and the uplinks make a difference. Prices do not distinguish messages
/// inside a rack. Uplinks make a difference if they have a latency, or less bandwidth than the rack's NICs.
bool uplinks_matter(const Cluster& cluster, int machines);

}  // namespace stepcast
