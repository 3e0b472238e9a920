#include "models/equation/latency_bound.hpp"

#include <algorithm>

#include "models/fabric/machines.hpp"
#include "models/price/best_link.hpp"
#include "models/price/path_prices.hpp"

namespace stepcast {
namespace {

/// The least latency that data needs between the two most distant workers, over any workers in between. With equal
/// links it is the latency from some worker of a machine or rack to another one. Zero if only a fabric's longest route
/// is known, since no worker may need that route.
Seconds farthest(const Cluster& cluster) {
  const bool known = std::holds_alternative<Star>(cluster.topology) ||
                     std::holds_alternative<Nodes>(cluster.topology) || std::holds_alternative<Racks>(cluster.topology);
  if (!known || cluster.workers == 1) return {};
  return collective_prices(cluster).path[static_cast<int>(Path::far)].alpha * latency_factor(cluster);
}

/// The cluster with all machines in one rack: a message that leaves a machine goes at least to another one in its rack.
Cluster in_one_rack(Cluster cluster) {
  if (auto* nodes = std::get_if<Nodes>(&cluster.topology)) nodes->racks.reset();
  return cluster;
}

/// The least latency of the messages that leave a machine or rack.
Seconds out_of_groups(const Cluster& all) {
  const Cluster cluster = in_one_rack(all);
  const Seconds best = best_link(cluster).alpha;
  const bool leaves = natural_group(cluster) < cluster.workers && links_are_alike(cluster);
  return leaves ? std::max(best, farthest(cluster)) : best;
}

struct Latency {
  const Cluster& cluster;

  Seconds operator()(const CollectiveTraffic& traffic) const {
    const Seconds best = best_link(cluster).alpha;
    Seconds sum{};
    for (const auto& [kind, bytes] : traffic.buffers) {
      const auto& [operation, among] = kind;
      const bool in_network = cluster.in_network_factor.has_value();
      const Seconds rounds =
          best * lower_bound(operation, bytes, among.size(cluster.workers), in_network).total_messages();
      // A broadcast's root may be near to all workers, and a communicator may be inside one machine.
      sum += operation == Operation::broadcast || !among.is_one() ? rounds : std::max(rounds, farthest(cluster));
    }
    return sum;
  }
  /// For all unlike steps together. One neighbour a step may be in the same machine.
  Seconds operator()(const NeighbourTraffic& traffic) const {
    if (cluster.workers == 1) return {};
    return traffic.exchanges.size() == 1 ? out_of_groups(cluster)
                                         : best_link(cluster).alpha * static_cast<double>(traffic.exchanges.size());
  }
  Seconds operator()(const ServerTraffic& traffic) const {
    if (traffic.co_located && (cluster.workers == 1 || traffic.asynchronous)) return {};
    if (traffic.co_located) return 2.0 * out_of_groups(cluster);
    // Dedicated shards may be in one rack with all workers, or near to some workers in a fabric.
    const bool all_alike_far =
        std::holds_alternative<Star>(cluster.topology) || std::holds_alternative<Nodes>(cluster.topology);
    const Seconds best = best_link(cluster).alpha;
    const Seconds shard =
        collective_prices(in_one_rack(cluster)).path[static_cast<int>(Path::shard)].alpha * latency_factor(cluster);
    return 2.0 * (all_alike_far && !traffic.asynchronous ? std::max(best, shard) : best);
  }
};

}  // namespace

Seconds latency_bound(const Traffic& traffic, const Cluster& cluster) { return std::visit(Latency{cluster}, traffic); }

}  // namespace stepcast
