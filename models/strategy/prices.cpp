#include "models/strategy/prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "models/collective/direct.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/strategy/shard_placement.hpp"

namespace stepcast {
namespace {

/// The slowest link among the workers', and the largest end-to-end latency between two of them. Each end adds
/// half of its link's latency.
PathPrice worst_link(const Cluster& cluster) {
  BytesPerSecond bandwidth(std::numeric_limits<double>::infinity());
  std::vector<Seconds> halves;  // of the two slowest ends
  for (const WorkerKind& kind : worker_kinds(cluster)) {
    bandwidth = std::min(bandwidth, kind.link.bandwidth);
    halves.insert(halves.end(), static_cast<std::size_t>(std::min(kind.count, 2)), kind.link.latency / 2.0);
  }
  std::sort(halves.begin(), halves.end(), std::greater<>());
  const Seconds second = halves.size() > 1 ? halves[1] : halves[0];
  return {halves[0] + second, inverse(bandwidth)};
}

bool links_are_alike(const Cluster& cluster) {
  return std::none_of(cluster.groups.begin(), cluster.groups.end(), [](const WorkerGroup& g) { return g.bandwidth || g.latency; });
}

/// A star whose hosts all have the same link.
bool is_plain_star(const Cluster& cluster) { return std::holds_alternative<Star>(cluster.topology) && links_are_alike(cluster); }

/// Sums of the same numbers in another order are one number.
bool reaches(Seconds time, Seconds other) { return time >= other * (1 - 1e-12); }

/// Hops of the longest minimal route, host cables included.
struct LongestRoute {
  const Cluster& cluster;
  double operator()(const Star&) const { return 2; }
  double operator()(const Nodes&) const { return 2; }
  double operator()(const Racks&) const { return 2; }
  double operator()(const SimGridXml&) const { return 2; }
  double operator()(const FatTree& t) const { return 2.0 * static_cast<double>(t.down.size()); }
  double operator()(const Torus& t) const {
    return std::accumulate(t.dimensions.begin(), t.dimensions.end(), 0.0, [](double sum, int d) { return sum + d / 2; });
  }
  double operator()(const Dragonfly& t) const {
    const double local = (t.routers > 1 ? 1 : 0) + (t.chassis > 1 ? 1 : 0);
    return 2 + (t.groups > 1 ? 2 * local + 1 : local);
  }
};

/// Whether each worker with shards elsewhere, and each shard, has a message on a way that is busy for `busiest`: of equal
/// shards, a byte from each worker to each.
bool all_wait_for_busiest_way(const std::vector<Branch>& all, int p, int shards, Seconds busiest) {
  const auto own = [](const Branch& branch) { return static_cast<int>(branch.shards.size()); };
  // Of `count` on the branch's ways, dealt in turn: the first way has the most.
  const auto of_way = [](const Branch& branch, int count, int way) { return static_cast<double>((count + branch.ways - 1 - way) / branch.ways); };
  const auto out_is_busy = [&](const Branch& branch, int way) { return reaches(Bytes(of_way(branch, branch.workers, way) * (shards - own(branch))) / branch.bandwidth, busiest); };
  const auto in_is_busy = [&](const Branch& branch, int way) { return reaches(Bytes(of_way(branch, own(branch), way) * (p - branch.workers)) / branch.bandwidth, busiest); };
  long busy_out = 0, busy_in = 0;  // branches with such a way
  for (const Branch& branch : all) {
    if (out_is_busy(branch, 0)) busy_out += branch.count;
    if (in_is_busy(branch, 0)) busy_in += branch.count;
  }
  return std::all_of(all.begin(), all.end(), [&](const Branch& branch) {
    const bool sends = branch.workers > 0 && own(branch) < shards, receives = own(branch) > 0;
    const bool to_busy = busy_in > (in_is_busy(branch, 0) ? 1 : 0), from_busy = busy_out > (out_is_busy(branch, 0) ? 1 : 0);
    return (!sends || to_busy || out_is_busy(branch, branch.ways - 1)) && (!receives || from_busy || in_is_busy(branch, std::min(own(branch), branch.ways) - 1));
  });
}

}  // namespace

Prices collective_prices(const Cluster& cluster) {
  Prices prices;
  prices.host = cluster.host_cost;
  prices.gamma = cluster.reduction_cost;
  prices.setup = cluster.collective_cost;
  const PathPrice link = worst_link(cluster);
  auto& [neighbour, far, inner, shard] = prices.path;
  neighbour = far = inner = shard = link;
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) {
    inner = {nodes->inner.latency, inverse(nodes->inner.bandwidth)};
    shard.alpha = nodes->inner.latency / 2.0 + link.alpha;
    if (cluster.workers <= nodes->gpus_per_node) {
      neighbour = far = inner;
    } else {
      const Seconds alpha = nodes->inner.latency + link.alpha;
      const double sharing = std::ceil(static_cast<double>(nodes->gpus_per_node) / nodes->nics);
      neighbour = {alpha, std::max(inner.beta, link.beta)};
      far = {alpha, std::max(inner.beta, link.beta * sharing)};
    }
  } else if (const auto* racks = std::get_if<Racks>(&cluster.topology)) {
    shard.alpha = link.alpha + racks->uplink_latency;
    if (cluster.workers > racks->hosts_per_rack) {
      const Seconds alpha = link.alpha + racks->uplink_latency;
      const SecondsPerByte uplink = inverse(cluster.link.bandwidth) * (racks->oversubscription / racks->hosts_per_rack);
      neighbour = {alpha, std::max(link.beta, uplink)};
      far = {alpha, std::max(link.beta, uplink * racks->hosts_per_rack)};
    }
  } else {
    const Seconds alpha = cluster.link.latency / 2.0 * std::visit(LongestRoute{cluster}, cluster.topology);
    if (!std::holds_alternative<Star>(cluster.topology)) neighbour.alpha = far.alpha = inner.alpha = shard.alpha = alpha;
  }
  return prices;
}

bool prices_are_exact(const Cluster& cluster) { return is_plain_star(cluster) && std::holds_alternative<IdealTransport>(cluster.transport); }

bool routes_are_priced(const Cluster& cluster, Operation operation) {
  const int most = operation == Operation::all_to_all ? 512 : 4096;
  return !is_plain_star(cluster) && !std::holds_alternative<SimGridXml>(cluster.topology) && cluster.workers <= most;
}

int natural_group(const Cluster& cluster) {
  if (const auto* nodes = std::get_if<Nodes>(&cluster.topology)) return nodes->gpus_per_node;
  if (const auto* racks = std::get_if<Racks>(&cluster.topology)) return racks->hosts_per_rack;
  return 1;
}

Machines machines(const Cluster& cluster) {
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  return {natural_group(cluster), nodes ? nodes->nics : 1};
}

bool has_inner_hops(const Cluster& cluster) {
  return std::holds_alternative<FatTree>(cluster.topology) || std::holds_alternative<Torus>(cluster.topology) || std::holds_alternative<Dragonfly>(cluster.topology);
}

bool shard_terms_are_exact(const Cluster& cluster, int shards, bool co_located, int buckets) {
  const int p = cluster.workers;
  if (prices_are_exact(cluster) || (co_located && p == 1)) return true;
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  const auto* racks = std::get_if<Racks>(&cluster.topology);
  if ((!nodes && !racks) || !links_are_alike(cluster) || !std::holds_alternative<IdealTransport>(cluster.transport)) return false;

  const std::vector<Branch> all = branches(cluster, shards, co_located);
  const auto some = [&](auto&& is) { return std::any_of(all.begin(), all.end(), is); };
  const Seconds ways = busiest_way(std::vector<Bytes>(static_cast<std::size_t>(shards), 1_B), all, p);
  const BytesPerSecond host = nodes ? nodes->inner.bandwidth : cluster.link.bandwidth;
  const Seconds hosts = Bytes(co_located ? p - 1 : nodes ? shards : std::max(p, shards)) / host;
  const bool some_stay = some([&](const Branch& b) { return !b.shards.empty() && b.workers > (co_located ? 1 : 0); });
  const bool latencies_are_alike = !some_stay || ways == Seconds{} || (nodes ? cluster.link.latency : racks->uplink_latency) == Seconds{};
  // Whether pushes and pulls may meet: dedicated shards' do in the uplink of a rack with workers and some of the shards. A
  // co-located shard's pulls begin once all that its host pushes has arrived, if nobody is ahead of the others.
  const bool meet = co_located ? shards > 1 : some([&](const Branch& b) { return b.workers > 0 && !b.shards.empty() && static_cast<int>(b.shards.size()) < shards; });
  const bool in_turn = co_located || buckets == 1;
  // Hosts' links are equally busy: nobody is ahead.
  if (latencies_are_alike && reaches(hosts, ways) && (in_turn || !meet)) return true;
  return reaches(ways, hosts) && (!meet || (in_turn && all_wait_for_busiest_way(all, p, shards, ways)));
}

Seconds busiest_host(std::span<const Bytes> shard_bytes, const Cluster& cluster, bool co_located) {
  const int p = cluster.workers, shards = static_cast<int>(shard_bytes.size());
  const Bytes total = std::accumulate(shard_bytes.begin(), shard_bytes.end(), Bytes{}), largest = *std::max_element(shard_bytes.begin(), shard_bytes.end());
  std::map<int, Bytes> own;  // by rank, of the workers with a shard beside them
  for (int j = 0; co_located && j < shards; ++j) own[shard_host(cluster, shards, co_located, j)] += shard_bytes[static_cast<std::size_t>(j)];
  // Dedicated shards have the plain link.
  Seconds busiest = co_located ? Seconds{} : largest * p / cluster.link.bandwidth;
  for (const WorkerKind& kind : worker_kinds(cluster)) {
    int with_shard = 0;
    for (auto host = own.lower_bound(kind.first); host != own.end() && host->first < kind.first + kind.count; ++host, ++with_shard)
      busiest = std::max({busiest, (total - host->second) / kind.link.bandwidth, host->second * (p - 1) / kind.link.bandwidth});
    if (with_shard < kind.count) busiest = std::max(busiest, total / kind.link.bandwidth);
  }
  return busiest;
}

ClusterPrices::PricedRound ClusterPrices::priced(const Round& round) const {
  PricedRound found;
  // Rounds that differ in how much all their messages carry are one, scaled.
  if (std::all_of(round.begin(), round.end(), [&](const Message& m) { return m.slice.count == round.front().slice.count; })) found.blocks = round.front().slice.count;
  if (found.blocks == 0) found.blocks = 1;
  Round scaled = round;
  std::vector<std::array<int, 3>> messages;
  messages.reserve(round.size());
  for (Message& message : scaled) {
    message.slice.count /= found.blocks;
    messages.push_back({message.from, message.to, message.slice.count});
  }
  auto& flows = known_[std::move(messages)];
  if (!flows) {
    if (!fabric_) fabric_.emplace(cluster_, 0);
    flows = std::make_shared<const RoundFlows>(scaled, *fabric_);
  }
  found.flows = flows;
  return found;
}

const ClusterPrices::PricedRounds& ClusterPrices::rounds_of(const CollectiveCall& call) const {
  const Key key{call.algorithm, call.parameters};
  if (const auto known = rounds_.find(key); known != rounds_.end()) return known->second;
  const Schedule schedule = call.algorithm->schedule(cluster_.workers, call.parameters);
  PricedRounds all{schedule.blocks, {}};
  std::map<int, std::size_t> number;
  for (int r = 0; r < schedule.rounds; ++r) {
    const auto [like, is_first] = number.try_emplace(schedule.like_round(r), all.rounds.size());
    if (is_first) all.rounds.push_back(priced(schedule.round(r)));
    else ++all.rounds[like->second].times;
  }
  return rounds_.emplace(key, std::move(all)).first->second;
}

PricedCost ClusterPrices::operator()(const CollectiveCall& call) const {
  const CostTerms terms = call.algorithm->cost(call.bytes, cluster_.workers, call.parameters);
  PricedCost cost = price(terms, paths_);
  if (terms.empty() || !routes_are_priced(cluster_, call.algorithm->operation)) return cost;
  const std::pair<Key, Bytes> key{{call.algorithm, call.parameters}, call.bytes};
  if (const auto known = prices_.find(key); known != prices_.end()) return known->second;
  const PricedRounds& all = rounds_of(call);
  cost.latency = Seconds{};
  cost.bandwidth = terms.copied * paths_.host;
  for (const PricedRound& round : all.rounds) {
    const RoundFlows::Duration one = round.flows->duration(call.bytes * (static_cast<double>(round.blocks) / all.blocks));
    cost.latency += one.latency * round.times;
    cost.bandwidth += one.bandwidth * round.times;
  }
  if (prices_.size() == kMostPrices) prices_.clear();
  return prices_.emplace(key, cost).first->second;
}

bool ClusterPrices::is_exact(const CollectiveCall& call) const {
  if (call.algorithm->cost(call.bytes, cluster_.workers, call.parameters).empty()) return true;
  const PricedRounds& all = rounds_of(call);
  return std::all_of(all.rounds.begin(), all.rounds.end(), [](const PricedRound& round) { return round.flows->is_exact(); });
}

CostTerms ClusterPrices::shard_terms(std::span<const Bytes> shard_bytes, bool co_located) const {
  const int p = cluster_.workers;
  CostTerms terms = shard_exchange_cost(shard_bytes, p, co_located);
  const auto* nodes = std::get_if<Nodes>(&cluster_.topology);
  const auto* racks = std::get_if<Racks>(&cluster_.topology);
  if (terms.empty()) return terms;
  Bytes& wire = terms.wire[static_cast<int>(Path::shard)];
  const auto move_to = [&](Path path) { std::swap(terms.messages[static_cast<int>(Path::shard)], terms.messages[static_cast<int>(path)]); };
  const SecondsPerByte beta = worst_link(cluster_).beta;
  if (!links_are_alike(cluster_)) wire = busiest_host(shard_bytes, cluster_, co_located) / beta;
  if (!nodes && !racks) return terms;

  // A message between workers has the latency of any other, one to a dedicated shard in the workers' only rack that inside it.
  if (co_located) move_to(Path::far);
  else if (racks && p + static_cast<int>(shard_bytes.size()) <= racks->hosts_per_rack) move_to(Path::inner);
  if (nodes) {
    const Bytes total = std::accumulate(shard_bytes.begin(), shard_bytes.end(), Bytes{}), largest = *std::max_element(shard_bytes.begin(), shard_bytes.end());
    const double inside = 1.0 / (beta * nodes->inner.bandwidth);  // an inner link's time for a byte, in those of a NIC
    // No worker sends more to others than a co-located shard receives: total - s_i <= (p - 1) · largest.
    if (co_located) wire = largest * (p - 1) * inside;
    else wire = std::max(wire, total * inside);
  }
  const auto [all, is_new] = branches_.try_emplace({shard_bytes.size(), co_located});
  if (is_new) all->second = branches(cluster_, static_cast<int>(shard_bytes.size()), co_located);
  wire = std::max(wire, busiest_way(shard_bytes, all->second, p) / beta);
  return terms;
}

bool ClusterPrices::neighbours_are_routed() const {
  constexpr int kMost = 65536;  // workers, for whose messages RoundFlows takes 10 MB
  return !is_plain_star(cluster_) && !std::holds_alternative<SimGridXml>(cluster_.topology) && cluster_.workers > 1 && cluster_.workers <= kMost;
}

const RoundFlows& ClusterPrices::neighbour_flows() const {
  if (!neighbours_) {
    const int p = cluster_.workers;
    Round round;
    for (int rank = 0; rank < p; ++rank) {
      round.push_back({rank, (rank + 1) % p, {0, 1}});
      if (p > 2) round.push_back({rank, (rank + p - 1) % p, {0, 1}});
    }
    neighbours_ = priced(round).flows;
  }
  return *neighbours_;
}

PricedCost ClusterPrices::neighbours(Bytes bytes) const {
  const CostTerms terms = neighbour_exchange_cost(bytes, cluster_.workers);
  PricedCost cost = price(terms, paths_);
  cost.setup = Seconds{};
  if (!neighbours_are_routed()) return cost;
  const RoundFlows::Duration time = neighbour_flows().duration(bytes);
  cost.latency = time.latency;
  cost.bandwidth = time.bandwidth + terms.copied * paths_.host;
  return cost;
}

bool ClusterPrices::neighbours_are_exact() const {
  if (cluster_.workers == 1 || prices_are_exact(cluster_)) return true;
  const bool like_workers = std::all_of(cluster_.groups.begin(), cluster_.groups.end(), [](const WorkerGroup& g) { return g.speed == 1.0; });
  return like_workers && neighbours_are_routed() && neighbour_flows().formula_is_exact();
}

/// What the call cannot take less than, without following its rounds.
Seconds ClusterPrices::least(const CollectiveCall& call) const {
  const CostTerms terms = call.algorithm->cost(call.bytes, cluster_.workers, call.parameters);
  if (terms.empty()) return {};
  Seconds sum = terms.copied * paths_.host + terms.reduced * paths_.gamma + paths_.setup;
  const PricedRounds& all = rounds_of(call);
  for (const PricedRound& round : all.rounds) sum += round.flows->least(call.bytes * (static_cast<double>(round.blocks) / all.blocks)) * round.times;
  return sum;
}

CollectiveCall ClusterPrices::decide(Operation operation, const CollectiveChoice& choice, Bytes bytes) const {
  const bool by_routes = routes_are_priced(cluster_, operation);
  Seconds best(std::numeric_limits<double>::infinity());
  return stepcast::decide(operation, choice, bytes, cluster_.workers, paths_, machines(cluster_), [&](const CollectiveCall& call) {
    // Following rounds takes long; those of a call that cannot be the best are not worth it.
    if (by_routes)
      if (const Seconds at_least = least(call); at_least >= best) return at_least;
    const Seconds time = (*this)(call).total();
    best = std::min(best, time);
    return time;
  });
}

const ClusterPrices& RecentPrices::of(const Cluster& cluster) {
  const auto known = std::find_if(recent_.begin(), recent_.end(), [&](const ClusterPrices& prices) { return prices.cluster() == cluster; });
  if (known != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, known);
  } else {
    recent_.emplace_front(cluster);
    if (recent_.size() > kMost) recent_.pop_back();
  }
  return recent_.front();
}

}  // namespace stepcast
