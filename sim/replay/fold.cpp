#include "sim/replay/fold.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "models/fabric/fabric.hpp"
#include "models/fabric/host_specs.hpp"
#include "models/part/worker_kinds.hpp"
#include "models/price/shard_placement.hpp"
#include "sim/replay/fingerprint.hpp"
#include "sim/replay/partition.hpp"

namespace stepcast {
namespace {

/// What two ends of an edge of the graph are to each other.
enum class Bond : std::uint32_t { crosses, sends, receives };

/// Flows, the links they cross, and the participants that send and receive them, as a labelled graph. A node may
/// stand for several things that a symmetry of the cluster exchanges: its size.
class FlowSystem {
 public:
  explicit FlowSystem(const Fabric& fabric) : fabric_(fabric) {}

  std::size_t add_participant(const std::vector<double>& colour, int size) { return add_node(Kind::participant, number(participant_colours_, colour), size); }

  struct Flow {
    int from = 0, to = 0;            ///< hosts
    std::array<double, 2> colour{};  ///< what else tells flows apart
    std::optional<std::size_t> sender{}, receiver{};
    int size = 1;                    ///< flows like this one, from or to the hosts that can change places
    bool from_changes = false;       ///< whether it is the sending ends that do
  };

  void add_flow(const Flow& flow) {
    if (flow.from != flow.to) fabric_.append_route(flow.from, flow.to, hops_);
    flows_.push_back(flow);
    last_hop_.push_back(hops_.size());
  }

  struct Result {
    Partition partition;            ///< of all nodes
    Quotient quotient;
    std::vector<std::size_t> flow;  ///< by flow class: number of a flow of it
    std::vector<int> size;          ///< by class of nodes: things they stand for
  };

  Result fold() {
    link_node_.assign(fabric_.links().size(), kNone);
    drop_idle_links();
    add_to_graph();
    Result result;
    result.partition = refine(graph_);
    const Partition& partition = result.partition;
    result.size.assign(partition.size.size(), 0);
    for (std::size_t v = 0; v < graph_.nodes(); ++v) result.size[at(partition.class_of[v])] += size_[v];

    // crossings[link class] has {flow class, flows of it on one link of the class}.
    std::vector<std::map<int, int>> crossings(partition.size.size());
    for (const auto& e : graph_.edges()) {
      if (e.seen_from_a % 4 != static_cast<std::uint32_t>(Bond::crosses)) continue;
      const int link_class = partition.class_of[e.b];
      if (partition.first[at(link_class)] == e.b) crossings[at(link_class)][partition.class_of[e.a]] += static_cast<int>(e.seen_from_b / 4);
    }

    std::vector<int> flow_number(partition.size.size(), -1);
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      const int cls = partition.class_of[first_flow_ + f];
      if (partition.first[at(cls)] != first_flow_ + f) continue;
      flow_number[at(cls)] = static_cast<int>(result.flow.size());
      result.flow.push_back(f);
      result.quotient.flows.push_back({{}, delay(f), flows_[f].from == flows_[f].to});
    }
    add_links(crossings, flow_number, partition, result.quotient);
    return result;
  }

 private:
  enum class Kind { participant, flow, link };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  template <class Map, class Key>
  static int number(Map& map, const Key& key) {
    return map.try_emplace(key, static_cast<int>(map.size())).first->second;
  }

  std::size_t add_node(Kind kind, int colour, int size) {
    size_.push_back(size);
    return graph_.add_node(colour * 3 + static_cast<int>(kind));
  }

  [[nodiscard]] std::size_t first_hop(std::size_t f) const { return f == 0 ? 0 : last_hop_[f - 1]; }
  [[nodiscard]] BytesPerSecond bandwidth(int link) const { return fabric_.links()[at(link)].bandwidth; }

  [[nodiscard]] Seconds delay(std::size_t f) const {
    Seconds sum{};
    for (std::size_t h = first_hop(f); h < last_hop_[f]; ++h) sum += fabric_.links()[at(hops_[h])].latency;
    return sum;
  }

  /// How many things the link of a hop stands for: as many as there are ends that can change places, where it is
  /// their own cable.
  [[nodiscard]] int link_size(std::size_t f, std::size_t hop) const {
    const Flow& flow = flows_[f];
    return hop == (flow.from_changes ? first_hop(f) : last_hop_[f] - 1) ? flow.size : 1;
  }

  /// Drops links that cannot slow any flow: even if each flow had all of the narrowest other link that it crosses,
  /// there would be room for all of them. What the other links allow is then the same with and without it, and so
  /// are the max-min fair rates; but far more flows are alike.
  void drop_idle_links() {
    std::vector<int> used;
    std::vector<std::size_t> first(fabric_.links().size() + 1, 0);
    for (const int link : hops_)
      if (++first[at(link) + 1] == 1) used.push_back(link);
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> crossings(hops_.size());  // {flow, hop} by link
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::size_t f = 0; f < flows_.size(); ++f)
      for (std::size_t h = first_hop(f); h < last_hop_[f]; ++h) crossings[next[at(hops_[h])]++] = {static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(h)};
    std::sort(used.begin(), used.end(), [&](int a, int b) { return bandwidth(a) != bandwidth(b) ? bandwidth(a) > bandwidth(b) : a < b; });
    is_idle_.assign(fabric_.links().size(), false);
    for (const int link : used) {
      double demand = 0.0;
      for (std::size_t i = first[at(link)]; i < first[at(link) + 1] && demand <= bandwidth(link).si(); ++i) {
        const auto [f, hop] = crossings[i];
        double rate = std::numeric_limits<double>::infinity();
        for (std::size_t h = first_hop(f); h < last_hop_[f]; ++h)
          if (hops_[h] != link && !is_idle_[at(hops_[h])]) rate = std::min(rate, bandwidth(hops_[h]).si());
        demand += rate * (flows_[f].size / link_size(f, hop));
      }
      is_idle_[at(link)] = demand <= bandwidth(link).si();
    }
  }

  void add_to_graph() {
    first_flow_ = graph_.nodes();
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      const Flow& flow = flows_[f];
      add_node(Kind::flow, number(flow_colours_, std::array{flow.colour[0], flow.colour[1], delay(f).si(), flow.from == flow.to ? 1.0 : 0.0}), flow.size);
    }
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      const std::size_t node = first_flow_ + f;
      if (flows_[f].sender) tie(node, *flows_[f].sender, Bond::sends);
      if (flows_[f].receiver) tie(node, *flows_[f].receiver, Bond::receives);
      for (std::size_t h = first_hop(f); h < last_hop_[f]; ++h)
        if (!is_idle_[at(hops_[h])]) tie(node, link_node(hops_[h], link_size(f, h)), Bond::crosses);
    }
  }

  std::size_t link_node(int link, int size) {
    std::size_t& node = link_node_[at(link)];
    if (node == kNone) {
      node = add_node(Kind::link, number(link_colours_, bandwidth(link).si()), size);
      links_.resize(std::max(links_.size(), node + 1), -1);
      links_[node] = link;
    }
    return node;
  }

  /// From the flow's side there is one such link, sender or receiver; from theirs, as many flows as come to one.
  void tie(std::size_t flow, std::size_t other, Bond bond) {
    const auto label = [&](int count) { return static_cast<std::uint32_t>(count) * 4 + static_cast<std::uint32_t>(bond); };
    graph_.add_edge(flow, other, label(1), label(size_[flow] / size_[other]));
  }

  /// Links of the quotient: counts without their common factor, and only the narrowest among links with the
  /// same flows.
  void add_links(const std::vector<std::map<int, int>>& crossings, const std::vector<int>& flow_number, const Partition& partition, Quotient& quotient) const {
    std::map<std::vector<std::pair<int, int>>, BytesPerSecond> narrowest;
    for (std::size_t cls = 0; cls < crossings.size(); ++cls) {
      if (crossings[cls].empty()) continue;
      int factor = 0;
      for (const auto& [flow, count] : crossings[cls]) factor = std::gcd(factor, count);
      std::vector<std::pair<int, int>> counts;
      for (const auto& [flow, count] : crossings[cls]) counts.emplace_back(flow_number[at(flow)], count / factor);
      const BytesPerSecond share = bandwidth(links_[partition.first[cls]]) / factor;
      const auto [entry, is_new] = narrowest.try_emplace(std::move(counts), share);
      if (!is_new) entry->second = std::min(entry->second, share);
    }
    for (const auto& [counts, share] : narrowest) {
      for (const auto& [flow, count] : counts) quotient.flows[at(flow)].links.emplace_back(static_cast<int>(quotient.links.size()), count);
      quotient.links.push_back(share);
    }
  }

  const Fabric& fabric_;
  LabelledGraph graph_;
  std::vector<int> size_;               ///< by node
  std::vector<Flow> flows_;
  std::vector<int> hops_;               ///< links of all flows' routes, one after the other
  std::vector<std::size_t> last_hop_;   ///< by flow: the one after its last
  std::vector<bool> is_idle_;           ///< by link of the fabric
  std::size_t first_flow_ = 0;          ///< node of flow 0; the others follow
  std::vector<int> links_;              ///< by node: link of the fabric, or -1
  std::vector<std::size_t> link_node_;  ///< by link of the fabric
  std::map<std::vector<double>, int> participant_colours_;
  std::map<std::array<double, 4>, int> flow_colours_;
  std::map<double, int> link_colours_;
};

std::shared_ptr<const FoldedRound::Flows> fold_flows(const Round& round, const Fabric& fabric) {
  FlowSystem system(fabric);
  for (const Message& message : round) system.add_flow({message.from, message.to, {static_cast<double>(message.slice.count), 0.0}});
  FlowSystem::Result folded = system.fold();
  auto flows = std::make_shared<FoldedRound::Flows>();
  for (const std::size_t flow : folded.flow) flows->blocks.push_back(round[flow].slice.count);
  flows->system = std::move(folded.quotient);
  return flows;
}

/// Rounds of one fabric; those with the same messages, whoever adds them up, share their flows.
class RoundFolder {
 public:
  RoundFolder(const Fabric& fabric, int p) : fabric_(fabric), p_(p) {}

  FoldedRound operator()(const Round& round) {
    Fingerprint messages;
    for (const Message& m : round) {
      messages.add(static_cast<std::uint64_t>(m.from) << 32 | static_cast<std::uint32_t>(m.to), static_cast<std::uint64_t>(m.slice.count));
    }
    auto& flows = known_[messages];
    if (!flows) flows = fold_flows(round, fabric_);
    return {flows, load_of(round, p_), 1};
  }

 private:
  const Fabric& fabric_;
  int p_;
  std::map<Fingerprint, std::shared_ptr<const FoldedRound::Flows>> known_;
};

FoldedCollective fold_collective(const CollectiveCall& call, int p, RoundFolder& fold_round) {
  const Schedule schedule = schedule_of(call, p);
  FoldedCollective folded;
  std::map<int, std::size_t> number;
  for (int r = 0; r < schedule.rounds; ++r) {
    const auto [entry, is_new] = number.try_emplace(schedule.like_round(r), folded.size());
    if (is_new) folded.push_back(fold_round(schedule.round(r)));
    else ++folded[entry->second].times;
  }
  return folded;
}

/// Participants and direct exchanges.
class DirectFold {
 public:
  DirectFold(const Cluster& cluster, const StepGraph& graph, const Fabric& fabric)
      : cluster_(cluster), graph_(graph), fabric_(fabric), specs_(cluster), system_(fabric) {
    for (const Task& task : graph.tasks)
      if (const auto* direct = std::get_if<DirectWork>(&task.work)) has_[index(direct->pattern)] = true;
  }

  void run(Fold& fold) {
    add_workers();
    add_shards();
    if (has(Pattern::push) || has(Pattern::pull)) add_exchanges_with_shards();
    if (has(Pattern::neighbours)) add_exchanges_with_neighbours();
    const FlowSystem::Result result = system_.fold();
    const Partition& partition = result.partition;

    std::vector<int> number(partition.size.size(), -1);
    for (std::size_t i = 0; i < participants_.size(); ++i) {
      const auto cls = static_cast<std::size_t>(partition.class_of[nodes_[i]]);
      if (partition.first[cls] != nodes_[i]) continue;
      number[cls] = static_cast<int>(fold.participants.size());
      fold.participants.push_back(participants_[i]);
      fold.participants.back().count = result.size[cls];
    }
    const auto number_of = [&](std::size_t participant) { return number[static_cast<std::size_t>(partition.class_of[nodes_[participant]])]; };
    for (std::size_t i = 0; i < workers_; ++i) {
      if (partition.first[static_cast<std::size_t>(partition.class_of[nodes_[i]])] == nodes_[i]) continue;
      std::vector<int>& all = fold.participants[static_cast<std::size_t>(number_of(i))].of_kind;
      std::transform(all.begin(), all.end(), participants_[i].of_kind.begin(), all.begin(), std::plus<>());
    }
    for (const std::size_t flow : result.flow) {
      const Ends& ends = ends_[flow];
      fold.direct_flows.push_back({ends.pattern, number_of(ends.sender), number_of(ends.receiver), ends.shard});
    }
    fold.direct = result.quotient;
  }

 private:
  using Pattern = DirectWork::Pattern;
  static constexpr std::size_t index(Pattern pattern) { return static_cast<std::size_t>(pattern); }
  static constexpr std::array<double, 2> colour(Pattern pattern) { return {static_cast<double>(pattern), 0.0}; }
  [[nodiscard]] bool has(Pattern pattern) const { return has_[index(pattern)]; }

  [[nodiscard]] int host_of(int shard) const { return shard_host(cluster_, graph_.shards, graph_.shards_co_located, shard); }

  /// Workers that can change places are one node; with collectives alone all of one speed can.
  void add_workers() {
    std::map<std::array<double, 4>, std::size_t> known;
    const std::vector<WorkerKind> kinds = worker_kinds(cluster_);
    std::size_t kind_of_rank = 0;
    std::set<int> serving;  // ranks with a shard beside them
    for (int shard = 0; graph_.shards_co_located && shard < graph_.shards; ++shard) serving.insert(host_of(shard));
    for (int rank = 0; rank < cluster_.workers; ++rank) {
      if (rank >= kinds[kind_of_rank].first + kinds[kind_of_rank].count) ++kind_of_rank;
      const HostSpec spec = specs_.of(rank);
      if (!has(Pattern::neighbours) && !serving.contains(rank)) {
        std::array<double, 4> kind{spec.speed, 0.0, 0.0, 0.0};
        if (has(Pattern::push) || has(Pattern::pull)) kind = {spec.speed, spec.link.bandwidth.si(), spec.link.latency.si(), static_cast<double>(fabric_.branch(rank))};
        const auto [entry, is_new] = known.try_emplace(kind, participants_.size());
        if (!is_new) {
          ++participants_[entry->second].count;
          ++participants_[entry->second].of_kind[kind_of_rank];
          continue;
        }
      }
      participants_.push_back({Role::worker, rank, 1, std::vector<int>(kinds.size())});
      ++participants_.back().of_kind[kind_of_rank];
    }
    for (const ParticipantClass& worker : participants_) nodes_.push_back(system_.add_participant({0.0, specs_.of(worker.index).speed}, worker.count));
    workers_ = participants_.size();
  }

  void add_shards() {
    for (int shard = 0; shard < graph_.shards; ++shard) {
      std::vector<double> colour{1.0};
      for (const Task& task : graph_.tasks) {
        if (const auto* serve = std::get_if<ServeWork>(&task.work)) colour.push_back(serve->time[static_cast<std::size_t>(shard)].si());
        if (const auto* direct = std::get_if<DirectWork>(&task.work)) colour.push_back(direct->shard_bytes[static_cast<std::size_t>(shard)].si());
      }
      participants_.push_back({Role::server, shard, 1});
      nodes_.push_back(system_.add_participant(colour, 1));
    }
  }

  void add_exchanges_with_shards() {
    for (std::size_t worker = 0; worker < workers_; ++worker)
      for (int shard = 0; shard < graph_.shards; ++shard) {
        const std::size_t server = workers_ + static_cast<std::size_t>(shard);
        const int rank = participants_[worker].index, host = host_of(shard), size = participants_[worker].count;
        if (has(Pattern::push)) add({Pattern::push, worker, server, shard}, {rank, host, colour(Pattern::push), nodes_[worker], nodes_[server], size, true});
        if (has(Pattern::pull)) add({Pattern::pull, server, worker, shard}, {host, rank, colour(Pattern::pull), nodes_[server], nodes_[worker], size, false});
      }
  }

  void add_exchanges_with_neighbours() {
    const int p = cluster_.workers;
    for (int rank = 0; rank < p; ++rank)
      for (int side = 0; side < (p > 2 ? 2 : p - 1); ++side) {
        const int peer = (rank + (side == 0 ? 1 : p - 1)) % p;
        const auto sender = static_cast<std::size_t>(rank), receiver = static_cast<std::size_t>(peer);
        add({Pattern::neighbours, sender, receiver, 0}, {rank, peer, colour(Pattern::neighbours), nodes_[sender], nodes_[receiver]});
      }
  }

  struct Ends {
    Pattern pattern;
    std::size_t sender, receiver;  ///< numbers in participants_
    int shard;
  };

  void add(const Ends& ends, const FlowSystem::Flow& flow) {
    ends_.push_back(ends);
    system_.add_flow(flow);
  }

  const Cluster& cluster_;
  const StepGraph& graph_;
  const Fabric& fabric_;
  HostSpecs specs_;
  FlowSystem system_;
  std::array<bool, 3> has_{};  ///< by index(pattern)
  std::vector<ParticipantClass> participants_;
  std::vector<std::size_t> nodes_;  ///< beside participants_
  std::size_t workers_ = 0;
  std::vector<Ends> ends_;          ///< by flow
};

}  // namespace

Fold fold(const Cluster& cluster, const StepGraph& graph) {
  const Fabric fabric(cluster, graph.shards_co_located ? 0 : graph.shards);
  Fold fold;
  DirectFold(cluster, graph, fabric).run(fold);
  RoundFolder fold_round(fabric, cluster.workers);
  for (const Task& task : graph.tasks)
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) {
      const auto [entry, is_new] = fold.collectives.try_emplace(key_of(collective->call));
      if (is_new) entry->second = fold_collective(collective->call, cluster.workers, fold_round);
    }
  return fold;
}

}  // namespace stepcast
