#include "models/price/ideal_equivalent.hpp"

#include <algorithm>

namespace stepcast {

Cluster ideal_equivalent(Cluster cluster) {
  const auto* transport = std::get_if<TcpTransport>(&cluster.transport);
  if (transport == nullptr) return cluster;
  const TcpTransport tcp = *transport;
  const auto convert = [&tcp](BytesPerSecond& bandwidth, Seconds& latency) {
    bandwidth = tcp.bandwidth_factor * bandwidth;
    if (tcp.window > Bytes{} && latency > Seconds{})
      bandwidth = std::min(bandwidth, tcp.bandwidth_factor * (tcp.window / (2.0 * latency)));
    if (tcp.cross_traffic) bandwidth = bandwidth / 1.05;
    latency = tcp.latency_factor * latency;
  };
  const Link link = cluster.link;
  convert(cluster.link.bandwidth, cluster.link.latency);
  for (WorkerGroup& group : cluster.groups) {
    if (!group.bandwidth && !group.latency) continue;
    BytesPerSecond bandwidth = group.bandwidth.value_or(link.bandwidth);
    Seconds latency = group.latency.value_or(link.latency);
    convert(bandwidth, latency);
    group.bandwidth = bandwidth;
    group.latency = latency;
  }
  if (auto* nodes = std::get_if<Nodes>(&cluster.topology)) {
    convert(nodes->inner.bandwidth, nodes->inner.latency);
    if (nodes->racks) nodes->racks->uplink_latency = tcp.latency_factor * nodes->racks->uplink_latency;
  }
  if (auto* racks = std::get_if<Racks>(&cluster.topology))
    racks->uplink_latency = tcp.latency_factor * racks->uplink_latency;
  cluster.transport = IdealTransport{};
  return cluster;
}

}  // namespace stepcast
