#include "models/fabric/flow_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "models/fabric/partition.hpp"

namespace stepcast {
namespace {

/// The relation between the two ends of an edge in the graph.
enum class Bond : std::uint32_t { crosses, sends, receives };

/// The system as a labelled graph: participants, then flows, each in order, then the links of the routes.
class Folder {
 public:
  Folder(const FlowSystem& system, Fabric& fabric) : system_(system), fabric_(fabric) {
    for (const FlowSystem::Flow& flow : system.flows) {
      if (flow.from != flow.to) fabric.append_route(flow.from, flow.to, hops_);
      last_hop_.push_back(hops_.size());
    }
    link_node_.assign(fabric.links().size(), kNone);  // filled once the routes are known
    for (const FlowSystem::Participant& one : system.participants)
      add_node(Kind::participant, number(participant_colours_, one.colour), one.size);
  }

  FoldedFlows fold() {
    drop_idle_links();
    add_to_graph();
    const Partition partition = refine(graph_);
    FoldedFlows folded;
    std::vector<int> sizes(partition.size.size());  // by class: number of things that its nodes represent
    for (std::size_t v = 0; v < graph_.nodes(); ++v) sizes[at(partition.class_of[v])] += size_[v];
    for (std::size_t i = 0; i < system_.participants.size(); ++i) {
      const int cls = partition.class_of[i];
      folded.alike.push_back(partition.first[at(cls)]);
      folded.size.push_back(sizes[at(cls)]);
    }
    std::vector<int> flow_number(partition.size.size(), -1);
    for (std::size_t f = 0; f < system_.flows.size(); ++f) {
      const int cls = partition.class_of[first_flow_ + f];
      if (partition.first[at(cls)] != first_flow_ + f) continue;
      flow_number[at(cls)] = static_cast<int>(folded.flow.size());
      folded.flow.push_back(f);
      folded.quotient.flows.push_back({{}, delay(f), system_.flows[f].from == system_.flows[f].to});
    }
    add_links(flow_number, partition, folded.quotient);
    add_limits(folded);
    return folded;
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

  /// The limit of a flow, unless a link of it that is not idle has no more; infinity then.
  [[nodiscard]] BytesPerSecond limit(std::size_t f) const {
    const BytesPerSecond most = fabric_.limit(system_.flows[f].from, system_.flows[f].to);
    for (std::size_t h = first_hop(f); h < last_hop_[f]; ++h)
      if (!is_idle_[at(hops_[h])] && bandwidth(hops_[h]) <= most)
        return BytesPerSecond(std::numeric_limits<double>::infinity());
    return most;
  }

  [[nodiscard]] Seconds delay(std::size_t f) const {
    if (!system_.latencies.empty()) return system_.latencies[f];
    return fabric_.latency(std::span(hops_).subspan(first_hop(f), last_hop_[f] - first_hop(f)));
  }

  /// The number of things that a hop's link represents. If the link is the own cable of exchangeable ends, it is their
  /// number; otherwise it is 1.
  [[nodiscard]] int link_size(std::size_t f, std::size_t hop) const {
    const FlowSystem::Flow& flow = system_.flows[f];
    return hop == (flow.from_changes ? first_hop(f) : last_hop_[f] - 1) ? flow.size : 1;
  }

  /// Drops links that cannot slow any flow. On such a link, each flow could have all of the narrowest other link on its
  /// route, and there would still be room. The link then does not change the max-min fair rates. Without these links,
  /// many more flows are equal.
  void drop_idle_links() {
    std::vector<int> used;
    std::vector<std::size_t> first(fabric_.links().size() + 1, 0);
    for (const int link : hops_)
      if (++first[at(link) + 1] == 1) used.push_back(link);
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> crossings(hops_.size());  // {flow, hop}, sorted by link
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::size_t f = 0; f < system_.flows.size(); ++f)
      for (std::size_t h = first_hop(f); h < last_hop_[f]; ++h)
        crossings[next[at(hops_[h])]++] = {static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(h)};
    std::sort(used.begin(), used.end(),
              [&](int a, int b) { return bandwidth(a) != bandwidth(b) ? bandwidth(a) > bandwidth(b) : a < b; });
    is_idle_.assign(fabric_.links().size(), false);
    for (const int link : used) {
      double demand = 0.0;
      for (std::size_t i = first[at(link)]; i < first[at(link) + 1] && demand <= bandwidth(link).si(); ++i) {
        const auto [f, hop] = crossings[i];
        double rate = fabric_.limit(system_.flows[f].from, system_.flows[f].to).si();
        for (std::size_t h = first_hop(f); h < last_hop_[f]; ++h)
          if (hops_[h] != link && !is_idle_[at(hops_[h])]) rate = std::min(rate, bandwidth(hops_[h]).si());
        const int of_one_link = system_.flows[f].size / link_size(f, hop);
        demand += rate * of_one_link;
      }
      is_idle_[at(link)] = demand <= bandwidth(link).si();
    }
  }

  void add_to_graph() {
    first_flow_ = graph_.nodes();
    for (std::size_t f = 0; f < system_.flows.size(); ++f) {
      const FlowSystem::Flow& flow = system_.flows[f];
      add_node(Kind::flow,
               number(flow_colours_, std::array{flow.colour[0], flow.colour[1], delay(f).si(),
                                                flow.from == flow.to ? 1.0 : 0.0, limit(f).si()}),
               flow.size);
    }
    for (std::size_t f = 0; f < system_.flows.size(); ++f) {
      const std::size_t node = first_flow_ + f;
      if (system_.flows[f].sender) tie(node, *system_.flows[f].sender, Bond::sends);
      if (system_.flows[f].receiver) tie(node, *system_.flows[f].receiver, Bond::receives);
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

  /// A flow has one such link, sender or receiver. Each of these has size[flow] / size[other] such flows.
  void tie(std::size_t flow, std::size_t other, Bond bond) {
    const auto label = [&](int count) {
      return static_cast<std::uint32_t>(count) * 4 + static_cast<std::uint32_t>(bond);
    };
    graph_.add_edge(flow, other, label(1), label(size_[flow] / size_[other]));
  }

  /// Adds the quotient's links. Counts lose their common factor. Among links with the same flows, only the narrowest
  /// stays.
  /// @param flow_number  by class: number of its flow in the quotient
  void add_links(const std::vector<int>& flow_number, const Partition& partition, Quotient& quotient) const {
    // crossings[link class] maps a flow class to its number of flows on one link of the link class.
    std::vector<std::map<int, int>> crossings(partition.size.size());
    for (const auto& e : graph_.edges()) {
      if (e.seen_from_a % 4 != static_cast<std::uint32_t>(Bond::crosses)) continue;
      const int link_class = partition.class_of[e.b];
      if (partition.first[at(link_class)] == e.b)
        crossings[at(link_class)][partition.class_of[e.a]] += static_cast<int>(e.seen_from_b / 4);
    }
    std::map<std::vector<std::pair<int, int>>, BytesPerSecond> narrowest;
    for (std::size_t cls = 0; cls < crossings.size(); ++cls) {
      if (crossings[cls].empty()) continue;
      int factor = crossings[cls].begin()->second;
      for (const auto& [flow, count] : crossings[cls]) factor = std::gcd(factor, count);
      std::vector<std::pair<int, int>> counts;
      for (const auto& [flow, count] : crossings[cls]) counts.emplace_back(flow_number[at(flow)], count / factor);
      const BytesPerSecond share = bandwidth(links_[partition.first[cls]]) / factor;
      const auto [entry, is_new] = narrowest.try_emplace(std::move(counts), share);
      if (!is_new) entry->second = std::min(entry->second, share);
    }
    for (const auto& [counts, share] : narrowest) {
      for (const auto& [flow, count] : counts)
        quotient.flows[at(flow)].links.emplace_back(static_cast<int>(quotient.links.size()), count);
      quotient.links.push_back(share);
    }
  }

  /// A flow's limit is a link of its own.
  void add_limits(FoldedFlows& folded) const {
    Quotient& quotient = folded.quotient;
    for (std::size_t f = 0; f < quotient.flows.size(); ++f) {
      const BytesPerSecond most = limit(folded.flow[f]);
      if (!std::isfinite(most.si())) continue;
      quotient.flows[f].links.emplace_back(static_cast<int>(quotient.links.size()), 1);
      quotient.links.push_back(most);
    }
  }

  const FlowSystem& system_;
  Fabric& fabric_;
  LabelledGraph graph_;
  std::vector<int> size_;               ///< by node
  std::vector<int> hops_;               ///< links of all flows' routes, one after the other
  std::vector<std::size_t> last_hop_;   ///< by flow: the one after its last
  std::vector<bool> is_idle_;           ///< by link of the fabric
  std::size_t first_flow_ = 0;          ///< node of flow 0; the others follow
  std::vector<int> links_;              ///< by node: link of the fabric, or -1
  std::vector<std::size_t> link_node_;  ///< by link of the fabric
  std::map<std::vector<double>, int> participant_colours_;
  std::map<std::array<double, 5>, int> flow_colours_;
  std::map<double, int> link_colours_;
};

}  // namespace

FoldedFlows fold_flows(const FlowSystem& system, Fabric& fabric) { return Folder(system, fabric).fold(); }

}  // namespace stepcast
