#include "models/price/shard_placement.hpp"

#include <cstdint>

#include "models/fabric/machines.hpp"

namespace stepcast {

int shard_host(const Cluster& cluster, int shards, bool co_located, int j) {
  const int p = cluster.workers;
  if (!co_located) return p + j;
  if (traits(cluster.topology).has_inner_hops) return static_cast<int>(std::int64_t{j} * p / shards);
  const int size = natural_group(cluster), groups = (p - 1) / size + 1, of_last = p - (groups - 1) * size;
  // The last machine or rack may be smaller. It is skipped once each of its workers has a shard.
  const int with_last = of_last * groups;
  const int group = j < with_last ? j % groups : (j - with_last) % (groups - 1);
  const int turn = j < with_last ? j / groups : of_last + (j - with_last) / (groups - 1);
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  return group * size +
         (nodes ? nodes->nics_of_machine().gpu_in_turn(turn, group < groups - 1 ? size : of_last) : turn);
}

}  // namespace stepcast
