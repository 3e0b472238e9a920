#include "models/price/shard_prices.hpp"

#include <algorithm>
#include <numeric>

#include "models/fabric/machines.hpp"
#include "models/part/connections.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/path_prices.hpp"
#include "models/price/shard_copies.hpp"
#include "models/price/shard_placement.hpp"

namespace stepcast {
namespace {

/// Tolerance for sums of the same numbers in different order.
bool reaches(Seconds time, Seconds other) { return time >= other * (1 - 1e-12); }

/// The smallest and the largest count above 0; 0 and 0 if there is none.
std::pair<int, int> fewest_and_most(const std::vector<int>& by_way) {
  int fewest = 0, most = 0;
  for (const int count : by_way) {
    if (count > 0 && (fewest == 0 || count < fewest)) fewest = count;
    most = std::max(most, count);
  }
  return {fewest, most};
}

/// Whether each worker with remote shards, and each shard, has a message on a way that is busy for `busiest`.
/// Shards are equal: each worker sends one byte to each.
bool all_wait_for_busiest_way(const std::vector<Branch>& all, int p, int shards, Seconds busiest) {
  const auto own = [](const Branch& branch) { return static_cast<int>(branch.shards.size()); };
  const auto out_is_busy = [&](const Branch& branch, int workers) {
    return reaches(Bytes(static_cast<double>(workers) * (shards - own(branch))) / branch.bandwidth, busiest);
  };
  const auto in_is_busy = [&](const Branch& branch, int shards_of_way) {
    return reaches(Bytes(static_cast<double>(shards_of_way) * (p - branch.workers)) / branch.bandwidth, busiest);
  };
  struct Busy {
    bool out, in;          ///< some way is busy
    bool all_out, all_in;  ///< all ways with senders, or with receivers, are busy
  };
  std::vector<Busy> busy;
  long busy_out = 0, busy_in = 0;  // number of branches with a busy way
  for (const Branch& branch : all) {
    const auto [few_out, most_out] = fewest_and_most(branch.workers_by_way());
    const auto [few_in, most_in] = fewest_and_most(branch.shards_by_way());
    const Busy& here = busy.emplace_back(Busy{out_is_busy(branch, most_out), in_is_busy(branch, most_in),
                                              out_is_busy(branch, few_out), in_is_busy(branch, few_in)});
    if (here.out) busy_out += branch.count;
    if (here.in) busy_in += branch.count;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Branch& branch = all[i];
    const Busy& here = busy[i];
    const bool sends = branch.workers > 0 && own(branch) < shards;
    const bool receives = own(branch) > 0;
    const bool to_busy = busy_in > (here.in ? 1 : 0), from_busy = busy_out > (here.out ? 1 : 0);
    if ((sends && !to_busy && !here.all_out) || (receives && !from_busy && !here.all_in)) return false;
  }
  return true;
}

}  // namespace

CostTerms ShardPrices::terms(std::span<const Bytes> shard_bytes, bool co_located) const {
  const int p = cluster_.workers;
  CostTerms terms = shard_exchange_cost(shard_bytes, p, co_located);
  const auto* nodes = std::get_if<Nodes>(&cluster_.topology);
  const auto* racks = std::get_if<Racks>(&cluster_.topology);
  if (terms.empty()) return terms;
  Bytes& wire = terms.wire[static_cast<int>(Path::shard)];
  const auto move_to = [&](Path path) {
    std::swap(terms.messages[static_cast<int>(Path::shard)], terms.messages[static_cast<int>(path)]);
  };
  const SecondsPerByte beta = worst_link(cluster_).beta;
  if (!links_are_alike(cluster_)) wire = busiest_host(shard_bytes, cluster_, co_located) / beta;
  if (!nodes && !racks) return terms;

  // A message to a co-located shard has the latency of any message between workers. A message to a dedicated shard
  // inside the workers' only rack has the latency inside the rack.
  if (co_located) move_to(Path::far);
  else if (racks && p + static_cast<int>(shard_bytes.size()) <= racks->hosts_per_rack) move_to(Path::inner);
  if (nodes) {
    const Bytes total = std::accumulate(shard_bytes.begin(), shard_bytes.end(), Bytes{}),
                largest = *std::max_element(shard_bytes.begin(), shard_bytes.end());
    const double inside = 1.0 / (beta * nodes->inner.bandwidth);  // time per byte on an inner link over that on a NIC
    // A worker sends at most as much to others as a co-located shard receives: total - s_i <= (p - 1) · largest.
    if (co_located) wire = largest * (p - 1) * inside;
    else wire = std::max(wire, total * inside);
  }
  const auto [all, is_new] = cache_.branches.try_emplace({shard_bytes.size(), co_located});
  if (is_new)
    all->second = {branches(cluster_, static_cast<int>(shard_bytes.size()), co_located),
                   rack_branches(cluster_, static_cast<int>(shard_bytes.size()), co_located)};
  for (const std::vector<Branch>& level : all->second) wire = std::max(wire, busiest_way(shard_bytes, level, p) / beta);
  return terms;
}

const RoundFlows* ShardPrices::flows(ShardExchange exchange, int shards, bool co_located) const {
  const auto [known, is_new] = cache_.flows.try_emplace({exchange, shards, co_located});
  if (!is_new) return known->second.get();
  const int p = cluster_.workers;
  constexpr int kSomeBuckets = 2;  // exact for several buckets implies exact for one
  if (!shards_can_be_followed(cluster_, shards) || shard_terms_are_exact(cluster_, shards, co_located, kSomeBuckets))
    return nullptr;
  Round round;
  for (int worker = 0; worker < p; ++worker)
    for (int j = 0; j < shards; ++j) {
      const int shard = shard_host(cluster_, shards, co_located, j);
      if (worker == shard) continue;
      if (exchange == ShardExchange::push) round.push_back({worker, shard, {0, 1}});
      else round.push_back({shard, worker, {0, 1}});
    }
  Fabric fabric(cluster_, co_located ? 0 : shards);
  if (!round.empty()) known->second = std::make_unique<const RoundFlows>(followed_flows(round, fabric));
  return known->second.get();
}

PricedCost ShardPrices::price(ShardExchange exchange, std::span<const Bytes> shard_bytes, bool co_located,
                              const Prices& paths) const {
  const CostTerms all = terms(shard_bytes, co_located);
  Prices own = paths;
  // If one rack holds all machines, no message crosses an uplink.
  if (const Nodes* nodes = nodes_in_racks(cluster_); nodes && !co_located)
    if ((cluster_.workers - 1) / nodes->gpus_per_node + 1 + static_cast<int>(shard_bytes.size()) <=
        nodes->racks->nodes_per_rack)
      own.path[static_cast<int>(Path::shard)].alpha -= nodes->racks->uplink_latency;
  PricedCost cost = stepcast::price(all, own);
  cost.setup = Seconds{};  // S belongs to collectives only
  cost.copies = all.empty() ? Seconds{} : longest_worker_copies(cluster_, shard_bytes, co_located);
  const bool alike =
      std::all_of(shard_bytes.begin(), shard_bytes.end(), [&](Bytes bytes) { return bytes == shard_bytes.front(); });
  const RoundFlows* followed =
      all.empty() || !alike ? nullptr : flows(exchange, static_cast<int>(shard_bytes.size()), co_located);
  if (!followed) {
    const auto limit = connections_limit(cluster_);
    if (limit && !all.empty() && (!co_located || host_costs(cluster_).leave_machines()))
      cost.bandwidth = std::max(cost.bandwidth, *std::max_element(shard_bytes.begin(), shard_bytes.end()) / *limit);
    return cost;
  }
  const RoundFlows::Duration time = followed->duration(shard_bytes.front());
  cost.latency = time.latency;
  cost.bandwidth = time.bandwidth;
  return cost;
}

bool shards_can_be_followed(const Cluster& cluster, int shards) {
  constexpr long kMost = 1 << 18;  // messages; folding them takes at most half a second and 80 MB
  return !std::holds_alternative<SimGridXml>(cluster.topology) && static_cast<long>(cluster.workers) * shards <= kMost;
}

bool shard_terms_are_exact(const Cluster& cluster, int shards, bool co_located, int buckets) {
  const int p = cluster.workers;
  if (direct_prices_are_exact(cluster) || (co_located && p == 1)) return true;
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  const auto* racks = std::get_if<Racks>(&cluster.topology);
  const int machines = nodes ? (p - 1) / nodes->gpus_per_node + 1 + (co_located ? 0 : shards) : 0;
  if ((!nodes && !racks) || uplinks_matter(cluster, machines) || !links_are_alike(cluster) ||
      connections_limit(cluster) || !std::holds_alternative<IdealTransport>(cluster.transport))
    return false;

  const std::vector<Branch> all = branches(cluster, shards, co_located);
  const auto some = [&](auto&& is) { return std::any_of(all.begin(), all.end(), is); };
  const Seconds ways = busiest_way(std::vector<Bytes>(shards, 1_B), all, p);
  const BytesPerSecond host = nodes ? nodes->inner.bandwidth : cluster.link.bandwidth;
  const Seconds hosts = Bytes(co_located ? p - 1 : nodes ? shards : std::max(p, shards)) / host;
  const bool some_stay = some([&](const Branch& b) { return !b.shards.empty() && b.workers > (co_located ? 1 : 0); });
  const bool latencies_are_alike =
      !some_stay || ways == Seconds{} || (nodes ? cluster.link.latency : racks->uplink_latency) == Seconds{};
  // Whether pushes and pulls may share a link when some participants are ahead of others. Dedicated shards share the
  // uplink of a rack with workers and some of the shards. Several co-located shards share hosts' links.
  const bool meet = co_located ? shards > 1 : some([&](const Branch& b) {
    return b.workers > 0 && !b.shards.empty() && static_cast<int>(b.shards.size()) < shards;
  });
  const bool in_turn = co_located || buckets == 1;
  // Hosts' links are equally busy, so no participant is ahead.
  if (latencies_are_alike && reaches(hosts, ways) && (in_turn || !meet)) return true;
  return reaches(ways, hosts) && (!meet || (in_turn && all_wait_for_busiest_way(all, p, shards, ways)));
}

Seconds busiest_host(std::span<const Bytes> shard_bytes, const Cluster& cluster, bool co_located) {
  const int p = cluster.workers, shards = static_cast<int>(shard_bytes.size());
  const Bytes total = std::accumulate(shard_bytes.begin(), shard_bytes.end(), Bytes{}),
              largest = *std::max_element(shard_bytes.begin(), shard_bytes.end());
  std::map<int, Bytes> own;  // by rank: bytes of the shards on a worker's host
  for (int j = 0; co_located && j < shards; ++j) own[shard_host(cluster, shards, co_located, j)] += shard_bytes[j];
  // Dedicated shards have the plain link.
  Seconds busiest = co_located ? Seconds{} : largest * p / cluster.link.bandwidth;
  for (const WorkerKind& kind : worker_kinds(cluster)) {
    int with_shard = 0;
    for (auto host = own.lower_bound(kind.first); host != own.end() && host->first < kind.first + kind.count;
         ++host, ++with_shard)
      busiest = std::max(
          {busiest, (total - host->second) / kind.link.bandwidth, host->second * (p - 1) / kind.link.bandwidth});
    if (with_shard < kind.count) busiest = std::max(busiest, total / kind.link.bandwidth);
  }
  return busiest;
}

}  // namespace stepcast
