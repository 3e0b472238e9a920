#include "sim/replay/shard_hosts.hpp"

#include <cstddef>

#include "models/price/shard_placement.hpp"

namespace stepcast {

bool is_beside(int worker, int shard, const Cluster& cluster, const StepGraph& graph) {
  return graph.shards_co_located && worker == shard_host(cluster, graph.shards, true, shard);
}

Bytes to_other_hosts(const std::vector<Bytes>& shard_bytes, int worker, const Cluster& cluster,
                     const StepGraph& graph) {
  Bytes sum{};
  for (std::size_t j = 0; j < shard_bytes.size(); ++j)
    if (!is_beside(worker, static_cast<int>(j), cluster, graph)) sum += shard_bytes[j];
  return sum;
}

}  // namespace stepcast
