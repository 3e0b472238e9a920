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

namespace {

/// Products of the first factor, the first two, and so on, without the product of all.
std::vector<int> partial_products(const std::vector<int>& factors) {
  std::vector<int> products;
  int product = 1;
  for (std::size_t i = 0; i + 1 < factors.size(); ++i) products.push_back(product *= factors[i]);
  return products;
}

/// A topology without an overload here does not compile.
struct TraitsOf {
  TopologyTraits operator()(const Star&) const { return {.is_tree = true}; }
  TopologyTraits operator()(const Nodes& t) const {
    return {.levels = t.racks ? std::vector{t.gpus_per_node * t.racks->nodes_per_rack} : std::vector<int>{},
            .is_tree = true};
  }
  TopologyTraits operator()(const Racks&) const { return {.is_tree = true}; }
  TopologyTraits operator()(const FatTree& t) const {
    return {.levels = partial_products(t.down), .is_tree = true, .has_inner_hops = true};
  }
  TopologyTraits operator()(const Torus& t) const {
    return {.levels = partial_products(t.dimensions), .has_inner_hops = true, .servers_settle_slowly = true};
  }
  TopologyTraits operator()(const Dragonfly& t) const {
    return {.levels = partial_products({t.hosts, t.routers, t.chassis, t.groups}), .has_inner_hops = true};
  }
  TopologyTraits operator()(const SimGridXml&) const { return {}; }
};

}  // namespace

TopologyTraits traits(const Topology& topology) { return std::visit(TraitsOf{}, topology); }

Machines machines(const Cluster& cluster) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  Machines all{natural_group(cluster)};
  if (nodes) {
    all.nics = nodes->nics;
    all.nic_of_gpu = nodes->nic_of_gpu;
  }
  all.levels = traits(cluster.topology).levels;
  return all;
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

}  // namespace stepcast
