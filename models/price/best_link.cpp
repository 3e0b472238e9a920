#include "models/price/best_link.hpp"

#include <algorithm>
#include <variant>

namespace stepcast {
namespace {

/// The topology's best case for a message between neighbours: its factor on α, and the number of parallel links.
struct Nearest {
  double alpha = 1.0;
  double links = 1.0;
};

/// A topology without an overload here does not compile: its lower bound would be above the truth.
struct NearestOf {
  Nearest operator()(const Torus& t) const { return {0.5, 2.0 * static_cast<double>(t.dimensions.size())}; }
  Nearest operator()(const FatTree& t) const { return {1.0, static_cast<double>(t.up.front()) * t.parallel.front()}; }
  Nearest operator()(const Star&) const { return {}; }
  Nearest operator()(const Nodes&) const { return {}; }
  Nearest operator()(const Racks&) const { return {}; }
  Nearest operator()(const Dragonfly&) const { return {}; }
  Nearest operator()(const SimGridXml&) const { return {}; }
};

}  // namespace

double latency_factor(const Cluster& cluster) {
  const auto* tcp = std::get_if<TcpTransport>(&cluster.transport);
  return tcp ? std::min(1.0, tcp->latency_factor) : 1.0;
}

PathPrice best_link(const Cluster& cluster) {
  PathPrice best{cluster.link.latency, inverse(cluster.link.bandwidth)};
  const auto offer = [&](Seconds latency, BytesPerSecond bandwidth) {
    best.alpha = std::min(best.alpha, latency);
    best.beta = std::min(best.beta, inverse(bandwidth));
  };
  for (const WorkerGroup& group : cluster.groups)
    offer(group.latency.value_or(cluster.link.latency), group.bandwidth.value_or(cluster.link.bandwidth));
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) offer(nodes->inner.latency, nodes->inner.bandwidth);
  const Nearest nearest = std::visit(NearestOf{}, cluster.topology);
  best.alpha *= nearest.alpha;
  best.beta = best.beta / nearest.links;
  best.alpha *= latency_factor(cluster);
  return best;
}

}  // namespace stepcast
