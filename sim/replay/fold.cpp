#include "sim/replay/fold.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "sim/platform/fabric.hpp"
#include "sim/platform/host_specs.hpp"
#include "sim/replay/partition.hpp"

namespace stepcast {
namespace {

/// What two ends of an edge of the graph are to each other.
enum class Bond : std::uint32_t { crosses, sends, receives };

/// Flows, the links they cross, and the participants that send and receive them, as a labelled graph. A node may
/// stand for several things that a symmetry of the cluster exchanges: its size.
class FlowSystem {
 public:
  explicit FlowSystem(const Fabric& fabric) : fabric_(fabric), link_node_(fabric.links().size(), kNone) {}

  std::size_t add_participant(const std::vector<double>& colour, int size) { return add_node(Kind::participant, number(participant_colours_, colour), size); }

  struct Flow {
    int from = 0, to = 0;            ///< hosts
    std::array<double, 2> colour{};  ///< what else tells flows apart
    std::optional<std::size_t> sender{}, receiver{};
    int size = 1;                    ///< flows like this one, from or to the hosts that can change places
    bool from_changes = false;       ///< whether it is the sending ends that do
  };

  std::size_t add_flow(const Flow& flow) {
    route_.clear();
    if (flow.from != flow.to) fabric_.append_route(flow.from, flow.to, route_);
    Seconds delay{};
    for (const int link : route_) delay += fabric_.links()[static_cast<std::size_t>(link)].latency;
    const std::size_t node = add_node(Kind::flow, number(flow_colours_, std::array{flow.colour[0], flow.colour[1], delay.si(), flow.from == flow.to ? 1.0 : 0.0}), flow.size);
    flows_.push_back({node, delay, flow.from == flow.to});
    if (flow.sender) tie(node, *flow.sender, Bond::sends);
    if (flow.receiver) tie(node, *flow.receiver, Bond::receives);
    for (std::size_t i = 0; i < route_.size(); ++i) {
      const bool own_cable = flow.size > 1 && i == (flow.from_changes ? 0 : route_.size() - 1);
      tie(node, link_node(route_[i], own_cable ? flow.size : 1), Bond::crosses);
    }
    return flows_.size() - 1;
  }

  struct Result {
    Partition partition;            ///< of all nodes
    Quotient quotient;
    std::vector<std::size_t> flow;  ///< by flow class: number of a flow of it
    std::vector<int> size;          ///< by class of nodes: things they stand for
  };

  Result fold() const {
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
      const int cls = partition.class_of[flows_[f].node];
      if (partition.first[at(cls)] != flows_[f].node) continue;
      flow_number[at(cls)] = static_cast<int>(result.flow.size());
      result.flow.push_back(f);
      result.quotient.flows.push_back({{}, flows_[f].delay, flows_[f].local});
    }
    add_links(crossings, flow_number, partition, result.quotient);
    return result;
  }

  [[nodiscard]] std::size_t node_of_flow(std::size_t flow) const { return flows_[flow].node; }

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

  std::size_t link_node(int link, int size) {
    std::size_t& node = link_node_[at(link)];
    if (node == kNone) {
      node = add_node(Kind::link, number(link_colours_, fabric_.links()[at(link)].bandwidth.si()), size);
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
      const BytesPerSecond bandwidth = fabric_.links()[at(links_[partition.first[cls]])].bandwidth / factor;
      const auto [entry, is_new] = narrowest.try_emplace(std::move(counts), bandwidth);
      if (!is_new) entry->second = std::min(entry->second, bandwidth);
    }
    for (const auto& [counts, bandwidth] : narrowest) {
      for (const auto& [flow, count] : counts) quotient.flows[at(flow)].links.emplace_back(static_cast<int>(quotient.links.size()), count);
      quotient.links.push_back(bandwidth);
    }
  }

  struct KnownFlow {
    std::size_t node;
    Seconds delay;
    bool local;
  };

  const Fabric& fabric_;
  LabelledGraph graph_;
  std::vector<int> size_;               ///< by node
  std::vector<KnownFlow> flows_;
  std::vector<int> links_;              ///< by node: link of the fabric, or -1
  std::vector<std::size_t> link_node_;  ///< by link of the fabric
  std::map<std::vector<double>, int> participant_colours_;
  std::map<std::array<double, 4>, int> flow_colours_;
  std::map<double, int> link_colours_;
  Fabric::Route route_;
};

FoldedRound fold_round(const Round& round, int p, const Fabric& fabric) {
  FlowSystem system(fabric);
  for (const Message& message : round) system.add_flow({message.from, message.to, {static_cast<double>(message.slice.count), 0.0}});
  FlowSystem::Result folded = system.fold();
  FoldedRound result;
  for (const std::size_t flow : folded.flow) result.blocks.push_back(round[flow].slice.count);
  result.system = std::move(folded.quotient);
  result.load = load_of(round, p);
  return result;
}

FoldedCollective fold_collective(const CollectiveCall& call, int p, const Fabric& fabric) {
  const Schedule schedule = call.algorithm->schedule(p, call.parameters);
  FoldedCollective folded;
  std::map<int, std::size_t> number;
  for (int r = 0; r < schedule.rounds; ++r) {
    const auto [entry, is_new] = number.try_emplace(schedule.like_round(r), folded.size());
    if (is_new) folded.push_back(fold_round(schedule.round(r), p, fabric));
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
      if (const auto* direct = std::get_if<DirectWork>(&task.work)) has_[static_cast<std::size_t>(direct->pattern)] = true;
  }

  void run(Fold& fold) {
    add_workers();
    add_shards();
    if (has_[0] || has_[1]) add_exchanges_with_shards();
    if (has_[2]) add_exchanges_with_neighbours();
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
    for (const std::size_t flow : result.flow) {
      const Ends& ends = ends_[flow];
      fold.direct_flows.push_back({ends.pattern, number_of(ends.sender), number_of(ends.receiver), ends.shard});
    }
    fold.direct = result.quotient;
  }

 private:
  using Pattern = DirectWork::Pattern;

  /// Workers that can change places are one node; with collectives alone all of one speed can.
  void add_workers() {
    std::map<std::array<double, 4>, std::size_t> known;
    for (int rank = 0; rank < cluster_.workers; ++rank) {
      const HostSpec spec = specs_.of(rank);
      const bool serves = graph_.shards_co_located && rank < graph_.shards;
      if (!has_[2] && !serves) {
        std::array<double, 4> kind{spec.speed, 0.0, 0.0, 0.0};
        if (has_[0] || has_[1]) kind = {spec.speed, spec.link.bandwidth.si(), spec.link.latency.si(), static_cast<double>(fabric_.branch(rank))};
        const auto [entry, is_new] = known.try_emplace(kind, participants_.size());
        if (!is_new) {
          ++participants_[entry->second].count;
          continue;
        }
      }
      participants_.push_back({Role::worker, rank, 1});
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
        const int rank = participants_[worker].index, host = graph_.shards_co_located ? shard : cluster_.workers + shard, size = participants_[worker].count;
        if (has_[0]) add({Pattern::push, worker, server, shard}, {rank, host, {0.0, 0.0}, nodes_[worker], nodes_[server], size, true});
        if (has_[1]) add({Pattern::pull, server, worker, shard}, {host, rank, {1.0, 0.0}, nodes_[server], nodes_[worker], size, false});
      }
  }

  void add_exchanges_with_neighbours() {
    const int p = cluster_.workers;
    for (int rank = 0; rank < p; ++rank)
      for (int side = 0; side < (p > 2 ? 2 : p - 1); ++side) {
        const int peer = (rank + (side == 0 ? 1 : p - 1)) % p;
        const auto sender = static_cast<std::size_t>(rank), receiver = static_cast<std::size_t>(peer);
        add({Pattern::neighbours, sender, receiver, 0}, {rank, peer, {2.0, 0.0}, nodes_[sender], nodes_[receiver]});
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
  std::array<bool, 3> has_{};  ///< by pattern
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
  for (const Task& task : graph.tasks)
    if (const auto* collective = std::get_if<CollectiveWork>(&task.work)) {
      const auto [entry, is_new] = fold.collectives.try_emplace(Fold::key(collective->call));
      if (is_new) entry->second = fold_collective(collective->call, cluster.workers, fabric);
    }
  return fold;
}

}  // namespace stepcast
