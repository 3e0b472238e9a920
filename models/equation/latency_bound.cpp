#include "models/equation/latency_bound.hpp"

#include <algorithm>

#include "models/fabric/machines.hpp"
#include "models/price/best_link.hpp"
#include "models/price/path_prices.hpp"

namespace stepcast {
namespace {

/// What it takes from some worker to some other, over however many workers in between, and if links are alike from some
/// worker of a machine or rack to any of another. Nothing where only a fabric's longest route is known, which no worker
/// may need.
Seconds farthest(const Cluster& cluster) {
  const bool known = std::holds_alternative<Star>(cluster.topology) ||
                     std::holds_alternative<Nodes>(cluster.topology) || std::holds_alternative<Racks>(cluster.topology);
  if (!known || cluster.workers == 1) return {};
  return collective_prices(cluster).path[static_cast<int>(Path::far)].alpha * latency_factor(cluster);
}

/// Machines that stand in racks, as if all were in one: what leaves one goes to another of its rack at least.
Cluster in_one_rack(Cluster cluster) {
  if (auto* nodes = std::get_if<Nodes>(&cluster.topology)) nodes->racks.reset();
  return cluster;
}

/// Of what some worker of every machine or rack sends out of it.
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
      const Seconds rounds = best * lower_bound(operation, bytes, among.size(cluster.workers)).total_messages();
      // A broadcast's root may be near to all, a communicator in one machine.
      sum += operation == Operation::broadcast || !among.is_one() ? rounds : std::max(rounds, farthest(cluster));
    }
    return sum;
  }
  Seconds operator()(const NeighbourTraffic&) const {
    return cluster.workers == 1 ? Seconds{} : out_of_groups(cluster);
  }
  Seconds operator()(const ServerTraffic& traffic) const {
    if (traffic.co_located && (cluster.workers == 1 || traffic.asynchronous)) return {};
    if (traffic.co_located) return 2.0 * out_of_groups(cluster);
    // Dedicated shards may be in a rack with all workers, and near to some in a fabric.
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
