#include "models/fabric/machines.hpp"

namespace stepcast {

int natural_group(const Cluster& cluster) {
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) return nodes->gpus_per_node;
  if (const auto* racks = std::get_if<Racks>(&cluster.topology)) return racks->hosts_per_rack;
  return 1;
}

const char* group_name(const Cluster& cluster) {
  return std::holds_alternative<Racks>(cluster.topology) ? "rack" : "machine";
}

Machines machines(const Cluster& cluster) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  if (nodes) return {nodes->gpus_per_node, nodes->nics, nodes->nic_of_gpu};
  return {natural_group(cluster), 1};
}

BytesPerSecond rack_uplink(const Cluster& cluster, const Nodes& nodes) {
  return cluster.link.bandwidth *
         (static_cast<double>(nodes.nics) * nodes.racks->nodes_per_rack / nodes.racks->oversubscription);
}

const Nodes* nodes_in_racks(const Cluster& cluster) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  return nodes && nodes->racks ? nodes : nullptr;
}

bool uplinks_matter(const Cluster& cluster, int machines) {
  const Nodes* nodes = nodes_in_racks(cluster);
  return nodes && machines > nodes->racks->nodes_per_rack &&
         (nodes->racks->oversubscription > 1 || nodes->racks->uplink_latency > Seconds{});
}

bool has_inner_hops(const Cluster& cluster) {
  return std::holds_alternative<FatTree>(cluster.topology) || std::holds_alternative<Torus>(cluster.topology) ||
         std::holds_alternative<Dragonfly>(cluster.topology);
}

}  // namespace stepcast
