#include "models/price/branches.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "models/fabric/machines.hpp"
#include "models/price/shard_placement.hpp"

namespace stepcast {
namespace {

/// Branches of `size` hosts in a row. The last branch may be smaller.
class Row {
 public:
  /// @param nics  of a whole branch; they are its ways
  Row(const Cluster& cluster, int size, Nics nics, BytesPerSecond bandwidth)
      : p_(cluster.workers), size_(size), nics_(nics), bandwidth_(bandwidth) {}

  /// @param hosts  number of hosts in the row, workers first
  std::vector<Branch> operator()(int hosts, const std::map<int, std::vector<int>>& shards_of) {
    for (const auto& [branch, shards] : shards_of) {
      skip_to(branch);
      add(1, shards);
    }
    skip_to((hosts - 1) / size_ + 1);
    return std::move(all_);
  }

 private:
  void add(int count, std::vector<int> shards) {
    const int workers = std::clamp(p_ - next_ * size_, 0, size_);
    all_.push_back({count, workers, nics_.in_use(std::max(workers, 1)), bandwidth_, std::move(shards), nics_});
    next_ += count;
  }
  /// Adds the branches before `branch`: the full ones, and one with the remaining workers.
  void skip_to(int branch) {
    if (const int whole = std::min(branch, p_ / size_); next_ < whole) add(whole - next_, {});
    if (next_ < branch) add(1, {});
  }

  int p_, size_;
  Nics nics_;
  BytesPerSecond bandwidth_;
  int next_ = 0;  ///< branch
  std::vector<Branch> all_;
};

}  // namespace

std::vector<int> Branch::workers_by_way() const {
  std::vector<int> all(ways);
  if (ways == 1) all.front() = workers;
  else
    for (int i = 0; i < workers; ++i) ++all[nics.of(i)];
  return all;
}

std::vector<int> Branch::shards_by_way() const {
  std::vector<int> all(ways);
  for (std::size_t i = 0; i < shards.size(); ++i) ++all[way_of_shard(i)];
  return all;
}

std::vector<Branch> branches(const Cluster& cluster, int shards, bool co_located) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  const auto* racks = std::get_if<Racks>(&cluster.topology);
  if (!nodes && !racks) return {};
  const int size = natural_group(cluster);
  std::map<int, std::vector<int>> shards_of;
  if (co_located || racks)
    for (int j = 0; j < shards; ++j) shards_of[shard_host(cluster, shards, co_located, j) / size].push_back(j);
  if (racks)
    return Row(cluster, size, Nics{}, cluster.link.bandwidth * (size / racks->oversubscription))(
        cluster.workers + (co_located ? 0 : shards), shards_of);
  std::vector<Branch> all =
      Row(cluster, size, nodes->nics_of_machine(), cluster.link.bandwidth)(cluster.workers, shards_of);
  // A dedicated shard has a machine of its own.
  for (int j = 0; !co_located && j < shards; ++j) all.push_back({1, 0, 1, cluster.link.bandwidth, {j}});
  return all;
}

std::vector<Branch> rack_branches(const Cluster& cluster, int shards, bool co_located) {
  const Nodes* nodes = nodes_in_racks(cluster);
  if (!nodes) return {};
  const int g = nodes->gpus_per_node, p = cluster.workers, machines = (p - 1) / g + 1,
            all = machines + (co_located ? 0 : shards);
  const int per_rack = std::min(nodes->racks->nodes_per_rack, all);
  std::map<int, std::vector<int>> shards_of;
  for (int j = 0; j < shards; ++j)
    shards_of[(co_located ? shard_host(cluster, shards, co_located, j) / g : machines + j) / per_rack].push_back(j);
  // A machine has g ranks in the row, even a dedicated shard's. If all workers fit on part of a machine, it has p.
  return Row(cluster, std::min(g, p) * per_rack, Nics{}, rack_uplink(cluster, *nodes))(std::min(g, p) * all, shards_of);
}

Seconds busiest_way(std::span<const Bytes> shard_bytes, const std::vector<Branch>& all, int p) {
  const Bytes total = std::accumulate(shard_bytes.begin(), shard_bytes.end(), Bytes{});
  Seconds busiest{};
  std::vector<Bytes> of_way;
  for (const Branch& branch : all) {
    of_way.assign(branch.ways, Bytes{});
    Bytes own{};
    for (std::size_t i = 0; i < branch.shards.size(); ++i) {
      const Bytes bytes = shard_bytes[branch.shards[i]];
      own += bytes;
      of_way[branch.way_of_shard(i)] += bytes;
    }
    const std::vector<int> workers = branch.workers_by_way();
    busiest = std::max(busiest, (total - own) * *std::max_element(workers.begin(), workers.end()) / branch.bandwidth);
    for (const Bytes bytes : of_way) busiest = std::max(busiest, bytes * (p - branch.workers) / branch.bandwidth);
  }
  return busiest;
}

}  // namespace stepcast
