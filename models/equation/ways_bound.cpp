#include "models/equation/ways_bound.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/part/worker_kinds.hpp"
#include "models/price/branches.hpp"
#include "models/price/path_prices.hpp"
#include "models/price/shard_prices.hpp"

namespace stepcast {
namespace {

/// Each worker as a separate branch with its own link as the only way. This applies where that link is first on all
/// routes and links may be unequal: on a star and in racks.
std::vector<Branch> hosts_as_branches(const Cluster& cluster) {
  std::vector<Branch> all;
  if (!std::holds_alternative<Star>(cluster.topology) && !std::holds_alternative<Racks>(cluster.topology)) return all;
  for (const WorkerKind& kind : worker_kinds(cluster)) all.push_back({kind.count, 1, 1, kind.link.bandwidth});
  return all;
}

/// The three ways to see the hosts as branches: behind NICs or uplinks, behind uplinks of racks of machines, and each
/// behind its own link.
std::array<std::vector<Branch>, 3> levels(const Cluster& cluster) {
  return {branches(cluster, 0, false), rack_branches(cluster, 0, false), hosts_as_branches(cluster)};
}

/// The least load of the ways of G branches for a collective of n bytes, for any algorithm. The n bytes are the buffer
/// in its messages, after compression.
///
/// All-reduce: the sum of each byte needs 2(G-1) messages between G branches, G-1 to collect it and G-1 to distribute
/// it. This makes 2(G-1)·n over all ways together. Each branch also receives n bytes: for fixed own buffers, the sum
/// may still be any n bytes. It also sends n bytes, since its buffers can change the sum to any n bytes. This gives n
/// over the narrowest branch's ways. A slow branch can reach this bound: it sends its buffer to a fast one, which
/// answers with sums. All-gather: G-1 messages for each byte, and p-w of p parts into a branch of w workers;
/// reduce-scatter is the reverse. A broadcast brings n to each branch except the root's, which sends it. An all-to-all
/// sends w·(p-w)·n/p out of w workers. Where switches may add up, only the n bytes out of each branch and into it remain.
Seconds through_ways(Operation operation, Bytes n, const std::vector<Branch>& all, int p, bool in_network) {
  BytesPerSecond together{};
  Seconds busiest{}, gathering{}, narrowest{};
  double others = -1;  // G - 1
  for (const Branch& branch : all) {
    const BytesPerSecond ways = branch.bandwidth * branch.ways;
    together = together + ways * branch.count;
    narrowest = std::max(narrowest, n / ways);
    gathering = std::max(gathering, n * (static_cast<double>(p - branch.workers) / p) / ways);
    busiest = std::max(busiest, n * (static_cast<double>(branch.workers) * (p - branch.workers) / p) / ways);
    others += branch.count;
  }
  if (others < 1) return {};
  switch (operation) {
    case Operation::all_reduce: return in_network ? narrowest : std::max(n * (2 * others) / together, narrowest);
    case Operation::all_gather:
    case Operation::reduce_scatter: return std::max(n * others / together, gathering);
    case Operation::broadcast: return narrowest;
    case Operation::all_to_all: return busiest;
  }
  return {};
}

/// The same bound for a collective in several communicators at once, with n bytes each. The ways carry all of them
/// together. A communicator has m members in G branches, k of them in one branch. All-reduce moves 2(G-1)·n between
/// branches, and n out of and into each if there are several. All-gather moves (G-1)·n between branches, and (m-k)/m·n
/// into one. Reduce-scatter moves the same out of it. An all-to-all moves at least as much as an all-gather of its n bytes:
/// k(m-k)/m out of a branch, which is no less than (m-k)/m.
/// @pre all ranks form one communicator, or the operation is no broadcast
Seconds through_ways(Operation operation, Bytes n, const std::vector<Branch>& all, int p, const Communicators& among,
                     bool in_network) {
  if (among.is_one()) return through_ways(operation, n, all, p, in_network);
  const double m = among.members;
  const auto count = static_cast<std::size_t>(among.count(p));
  std::vector<int> spread(count), here(count);  // by communicator: number of its branches, of its members in one branch
  BytesPerSecond together{};
  Seconds busiest{};
  int first = 0;  // rank
  for (const Branch& branch : all)
    for (int i = 0; i < branch.count; ++i, first += branch.workers) {
      const BytesPerSecond ways = branch.bandwidth * branch.ways;
      together = together + ways;
      for (int rank = first; rank < first + branch.workers; ++rank) ++here[among.of(rank)];
      double crossing = 0;  // number of buffers
      for (int rank = first; rank < first + branch.workers; ++rank) {
        const auto c = static_cast<std::size_t>(among.of(rank));
        const int members = std::exchange(here[c], 0);
        if (members == 0) continue;
        ++spread[c];
        crossing += operation == Operation::all_reduce ? (members < m ? 1.0 : 0.0) : (m - members) / m;
      }
      busiest = std::max(busiest, n * crossing / ways);
    }
  double between = 0;
  for (const int branches : spread) between += branches - 1;
  if (in_network && operation == Operation::all_reduce) return busiest;
  return all.empty() ? Seconds{}
                     : std::max(busiest, n * (between * (operation == Operation::all_reduce ? 2.0 : 1.0)) / together);
}

/// The same bound for the messages between neighbours, of all exchanges together. Those that leave a branch or enter it
/// use the ways of its workers.
Seconds neighbours_through_ways(const NeighbourTraffic& traffic, const std::vector<Branch>& all, int p) {
  if (all.empty() || all.front().workers == p) return {};
  struct Way {
    int branch = 0;
    std::size_t number = 0;
  };
  std::vector<Way> of_rank;
  std::vector<BytesPerSecond> bandwidth;
  int branches = 0;
  for (const Branch& branch : all)
    for (int i = 0; i < branch.count; ++i, ++branches) {
      for (int worker = 0; worker < branch.workers; ++worker)
        of_rank.push_back({branches, bandwidth.size() + static_cast<std::size_t>(branch.nics.of(worker))});
      bandwidth.insert(bandwidth.end(), static_cast<std::size_t>(branch.ways), branch.bandwidth);
    }
  std::vector<Bytes> sent(bandwidth.size()), received(bandwidth.size());
  for (const NeighbourWork& work : traffic.exchanges)
    for (const Message& message : messages_of(work.neighbours, p)) {
      const Way from = of_rank[message.from], to = of_rank[message.to];
      if (from.branch == to.branch) continue;
      sent[from.number] += work.bytes;
      received[to.number] += work.bytes;
    }
  Seconds busiest{};
  for (std::size_t way = 0; way < bandwidth.size(); ++way)
    busiest = std::max(busiest, std::max(sent[way], received[way]) / bandwidth[way]);
  return busiest;
}

struct Ways {
  const Cluster& cluster;

  Seconds operator()(const CollectiveTraffic& traffic) const {
    const auto all = levels(cluster);
    Seconds sum{};
    for (const auto& [kind, bytes] : traffic.buffers) {
      const auto& [operation, among] = kind;
      Seconds busiest{};
      for (const std::vector<Branch>& level : all)
        busiest = std::max(busiest, through_ways(operation, bytes, level, cluster.workers, among,
                                                 cluster.in_network_factor.has_value()));
      sum += busiest;
    }
    return sum;
  }
  Seconds operator()(const NeighbourTraffic& traffic) const {
    if (is_plain_star(cluster)) return {};  // a worker's own link is all there is, and its load is known
    Seconds busiest{};
    for (const std::vector<Branch>& level : levels(cluster))
      busiest = std::max(busiest, neighbours_through_ways(traffic, level, cluster.workers));
    return busiest;
  }
  Seconds operator()(const ServerTraffic& traffic) const {
    // Asynchronous: some workers may do all the work. Unequal shards have no bound here.
    if (traffic.asynchronous || !traffic.equal_shards) return {};
    const std::vector<Bytes> equal(traffic.shards, std::max(traffic.push, traffic.pull) / traffic.shards);
    const Seconds ways =
        std::max(busiest_way(equal, branches(cluster, traffic.shards, traffic.co_located), cluster.workers),
                 busiest_way(equal, rack_branches(cluster, traffic.shards, traffic.co_located), cluster.workers));
    return hosts_as_branches(cluster).empty() ? ways : std::max(ways, busiest_host(equal, cluster, traffic.co_located));
  }
};

}  // namespace

Seconds ways_bound(const Traffic& traffic, const Cluster& cluster) { return std::visit(Ways{cluster}, traffic); }

}  // namespace stepcast
