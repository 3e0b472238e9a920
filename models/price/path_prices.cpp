#include "models/price/path_prices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "models/fabric/machines.hpp"
#include "models/part/connections.hpp"
#include "models/part/host_costs.hpp"
#include "models/part/worker_kinds.hpp"

namespace stepcast {
namespace {

/// Number of hops of the longest minimal route, including host cables.
struct LongestRoute {
  double operator()(const Star&) const { return 2; }
  double operator()(const Nodes&) const { return 2; }
  double operator()(const Racks&) const { return 2; }
  double operator()(const SimGridXml&) const { return 2; }
  double operator()(const FatTree& t) const { return 2.0 * static_cast<double>(t.down.size()); }
  double operator()(const Torus& t) const {
    return std::accumulate(t.dimensions.begin(), t.dimensions.end(), 0.0,
                           [](double sum, int d) { return sum + std::floor(0.5 * d); });
  }
  double operator()(const Dragonfly& t) const {
    const double local = (t.routers > 1 ? 1 : 0) + (t.chassis > 1 ? 1 : 0);
    return 2 + (t.groups > 1 ? 2 * local + 1 : local);
  }
};

/// The share of the slowest worker's end in a latency.
Seconds slowest_half(const Cluster& cluster) {
  Seconds half{};
  for (const WorkerKind& kind : worker_kinds(cluster)) half = std::max(half, kind.link.latency / 2.0);
  return half;
}

/// Mean latency on a ring of all workers. Empty if it depends on a fabric's routes, or if each message has its own.
std::optional<Seconds> mean_latency(const Cluster& cluster) {
  if (cluster.ring_latency != RingLatency::mean) return {};
  const double p = cluster.workers;
  const auto part_that_leaves = [p](double group) { return p > group ? std::ceil(p / group) / p : 0.0; };
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) {
    Seconds mean = nodes->inner.latency + cluster.link.latency * part_that_leaves(nodes->gpus_per_node);
    if (nodes->racks)
      mean += nodes->racks->uplink_latency *
              part_that_leaves(static_cast<double>(nodes->gpus_per_node) * nodes->racks->nodes_per_rack);
    return mean;
  }
  const auto* racks = std::get_if<Racks>(&cluster.topology);
  if (!racks && !std::holds_alternative<Star>(cluster.topology)) return {};
  Seconds sum{};  // each link is an end of two messages and adds half of its latency to each
  for (const WorkerKind& kind : worker_kinds(cluster)) sum += kind.link.latency * kind.count;
  return sum / p + (racks ? racks->uplink_latency * part_that_leaves(racks->hosts_per_rack) : Seconds{});
}

}  // namespace

Prices collective_prices(const Cluster& cluster) {
  Prices prices;
  const HostCosts costs = host_costs(cluster);
  prices.host.fill(costs.is_one_machine() && costs.workers_of_machine > 1 ? costs.inside : costs.between);
  prices.host[static_cast<int>(Path::inner)] = costs.workers_of_machine > 1 ? costs.inside : costs.between;
  prices.host[static_cast<int>(Path::shard)] = costs.between;
  prices.gamma = cluster.reduction_cost;
  prices.setup = cluster.collective_cost;
  prices.in_network_factor = cluster.in_network_factor;
  prices.workers_of_machine = costs.workers_of_machine;
  const PathPrice link = worst_link(cluster);
  auto& [neighbour, ring, far, inner, shard] = prices.path;
  neighbour = far = inner = shard = link;
  shard.alpha = slowest_half(cluster) + cluster.link.latency / 2.0;  // a server has the plain link
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) {
    inner = {nodes->inner.latency, inverse(nodes->inner.bandwidth)};
    shard.alpha += nodes->inner.latency / 2.0;
    if (cluster.workers <= nodes->gpus_per_node) {
      neighbour = far = inner;
    } else {
      const Seconds alpha = nodes->inner.latency + link.alpha;
      const double sharing = std::ceil(static_cast<double>(nodes->gpus_per_node) / nodes->nics);
      neighbour = {alpha, std::max(inner.beta, link.beta)};
      far = {alpha, std::max(inner.beta, link.beta * sharing)};
    }
    if (nodes->racks) {
      shard.alpha += nodes->racks->uplink_latency;
      const double in_rack = static_cast<double>(nodes->gpus_per_node) * nodes->racks->nodes_per_rack;
      if (cluster.workers > in_rack) {
        const SecondsPerByte uplink = inverse(rack_uplink(cluster, *nodes));
        for (PathPrice* path : {&neighbour, &far}) path->alpha += nodes->racks->uplink_latency;
        neighbour.beta = std::max(neighbour.beta, uplink);
        far.beta = std::max(far.beta, uplink * in_rack);
      }
    }
  } else if (const auto* racks = std::get_if<Racks>(&cluster.topology)) {
    shard.alpha += racks->uplink_latency;
    if (cluster.workers > racks->hosts_per_rack) {
      const Seconds alpha = link.alpha + racks->uplink_latency;
      const SecondsPerByte uplink = inverse(cluster.link.bandwidth) * (racks->oversubscription / racks->hosts_per_rack);
      neighbour = {alpha, std::max(link.beta, uplink)};
      far = {alpha, std::max(link.beta, uplink * racks->hosts_per_rack)};
    }
  } else {
    const Seconds alpha = cluster.link.latency / 2.0 * std::visit(LongestRoute{}, cluster.topology);
    if (!std::holds_alternative<Star>(cluster.topology))
      neighbour.alpha = far.alpha = inner.alpha = shard.alpha = alpha;
  }
  if (const auto limit = connections_limit(cluster); limit && costs.leave_machines())
    for (PathPrice* path : {&neighbour, &far, &inner})
      if (path != &inner || costs.workers_of_machine == 1) path->beta = std::max(path->beta, inverse(*limit));
  ring = {mean_latency(cluster).value_or(neighbour.alpha), neighbour.beta};
  return prices;
}

bool direct_prices_are_exact(const Cluster& cluster) {
  return is_plain_star(cluster) && !connections_limit(cluster) &&
         std::holds_alternative<IdealTransport>(cluster.transport);
}

bool rounds_overlap(const Cluster& cluster) {
  return cluster.stack.slice && (host_costs(cluster).any() || worst_link(cluster).alpha > Seconds{});
}

bool prices_are_exact(const Cluster& cluster) { return direct_prices_are_exact(cluster) && !rounds_overlap(cluster); }

PathPrice worst_link(const Cluster& cluster) {
  BytesPerSecond bandwidth(std::numeric_limits<double>::infinity());
  std::vector<Seconds> halves;  // half latencies of the two slowest ends
  for (const WorkerKind& kind : worker_kinds(cluster)) {
    bandwidth = std::min(bandwidth, kind.link.bandwidth);
    halves.insert(halves.end(), static_cast<std::size_t>(std::min(kind.count, 2)), kind.link.latency / 2.0);
  }
  std::sort(halves.begin(), halves.end(), std::greater<>());
  const Seconds second = halves.size() > 1 ? halves[1] : halves[0];
  return {halves[0] + second, inverse(bandwidth)};
}

bool links_are_alike(const Cluster& cluster) {
  const std::vector<WorkerKind> kinds = worker_kinds(cluster);
  return std::all_of(kinds.begin(), kinds.end(), [&](const WorkerKind& kind) { return kind.link == cluster.link; });
}

bool is_plain_star(const Cluster& cluster) {
  return std::holds_alternative<Star>(cluster.topology) && links_are_alike(cluster);
}

}  // namespace stepcast
