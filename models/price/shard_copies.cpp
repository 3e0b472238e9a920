#include "models/price/shard_copies.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "models/part/host_costs.hpp"
#include "models/price/shard_placement.hpp"

namespace stepcast {

Seconds worker_copies(const Cluster& cluster, std::span<const Bytes> shard_bytes, bool co_located, int worker) {
  const HostCosts costs = host_costs(cluster);
  Seconds sum{};
  if (!costs.any()) return sum;
  const int shards = static_cast<int>(shard_bytes.size());
  for (int j = 0; j < shards; ++j) sum += shard_bytes[j] * costs.of(worker, shard_host(cluster, shards, co_located, j));
  return sum;
}

Seconds longest_worker_copies(const Cluster& cluster, std::span<const Bytes> shard_bytes, bool co_located) {
  const HostCosts costs = host_costs(cluster);
  if (!costs.any() || (co_located && cluster.workers == 1)) return {};
  const Bytes total = std::accumulate(shard_bytes.begin(), shard_bytes.end(), Bytes{});
  if (!co_located) return total * costs.between;
  struct Machine {
    Bytes all{};
    std::map<int, Bytes> of_worker{};
  };
  std::map<int, Machine> machines;
  const int shards = static_cast<int>(shard_bytes.size()), g = costs.workers_of_machine;
  for (int j = 0; j < shards; ++j) {
    if (shard_bytes[j] == Bytes{}) continue;
    const int host = shard_host(cluster, shards, true, j);
    Machine& machine = machines[host / g];
    machine.all += shard_bytes[j];
    machine.of_worker[host] += shard_bytes[j];
  }
  const int last = (cluster.workers - 1) / g;
  Seconds longest = static_cast<int>(machines.size()) <= last ? total * costs.between : Seconds{};
  for (const auto& [number, machine] : machines) {
    const int workers = number < last ? g : cluster.workers - last * g;
    Bytes least{};  // on the host of some worker
    if (static_cast<int>(machine.of_worker.size()) == workers)
      least = std::min_element(machine.of_worker.begin(), machine.of_worker.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
              })->second;
    longest = std::max(longest, (total - machine.all) * costs.between + (machine.all - least) * costs.inside);
  }
  return longest;
}

SecondsPerByte shard_copies(const Cluster& cluster, int shards, bool co_located, int shard) {
  const HostCosts costs = host_costs(cluster);
  const int p = cluster.workers, g = costs.workers_of_machine;
  if (!co_located) return costs.between * static_cast<double>(p);
  const int machine = shard_host(cluster, shards, true, shard) / g;
  const int beside = std::min(g, p - machine * g);
  return costs.inside * static_cast<double>(beside - 1) + costs.between * static_cast<double>(p - beside);
}

}  // namespace stepcast
