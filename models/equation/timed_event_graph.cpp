#include "models/equation/timed_event_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/howard_cycle_ratio.hpp>

namespace stepcast {
namespace {

constexpr double kUnreached = -std::numeric_limits<double>::infinity();

/// Boost's default precision is 0.005 in absolute terms. Weights here are scaled to at most 1.
struct Precision {
  using value_type = double;
  static double infinity() { return std::numeric_limits<double>::infinity(); }
  static double epsilon() { return -1e-13; }
};

using Weight =
    boost::property<boost::edge_weight_t, double,
                    boost::property<boost::edge_weight2_t, double, boost::property<boost::edge_index_t, int>>>;
using Reduced = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Weight>;

}  // namespace

TimedEventSolver::TimedEventSolver(const TimedEventGraph& graph)
    : graph_(graph), arcs_(graph.edges.size()), first_arc_(graph.duration.size() + 1) {
  const auto n = graph.duration.size();
  for (const auto& edge : graph.edges) ++first_arc_[static_cast<std::size_t>(edge.to) + 1];
  std::partial_sum(first_arc_.begin(), first_arc_.end(), first_arc_.begin());
  std::vector<std::size_t> next_arc(first_arc_.begin(), first_arc_.end() - 1);
  std::vector<int> waits(n, 0);
  std::vector<int> head(n, -1), next(graph.edges.size(), -1);  // outgoing edges of lag 0 as linked lists
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& edge = graph.edges[e];
    arcs_[next_arc[edge.to]++] = {edge.from, edge.lag};
    if (edge.lag > 0) continue;
    ++waits[edge.to];
    next[e] = head[edge.from];
    head[edge.from] = static_cast<int>(e);
  }
  order_.reserve(n);
  for (std::size_t v = 0; v < n; ++v)
    if (waits[v] == 0) order_.push_back(static_cast<int>(v));
  for (std::size_t i = 0; i < order_.size(); ++i)
    for (int e = head[order_[i]]; e >= 0; e = next[e])
      if (--waits[graph.edges[e].to] == 0) order_.push_back(graph.edges[e].to);
  if (order_.size() != n) throw std::logic_error("a step graph's dependencies inside one step form a cycle");
}

/// The cycles of the graph, as ways from an entry to an edge that leads to a later step. Entries are vertices with an
/// edge from an earlier step, so every cycle passes through at least one of them.
struct TimedEventSolver::Ways {
  struct Way {
    std::size_t entry;
    const TimedEventGraph::Edge* back;
    double length;
  };
  std::vector<int> entries;
  std::vector<Way> all;
  std::vector<std::vector<int>> previous;  ///< by entry and vertex
  double longest = 0.0;

  [[nodiscard]] std::size_t entry_index(int vertex) const {
    return static_cast<std::size_t>(std::lower_bound(entries.begin(), entries.end(), vertex) - entries.begin());
  }
};

TimedEventSolver::Ways TimedEventSolver::longest_ways() const {
  Ways ways;
  std::vector<const TimedEventGraph::Edge*> back;
  for (const auto& edge : graph_.edges) {
    if (edge.lag == 0) continue;
    back.push_back(&edge);
    ways.entries.push_back(edge.to);
  }
  std::sort(ways.entries.begin(), ways.entries.end());
  ways.entries.erase(std::unique(ways.entries.begin(), ways.entries.end()), ways.entries.end());
  ways.previous.resize(ways.entries.size());
  std::vector<double> end;  // longest time from the start of the entry to the end of the vertex
  for (std::size_t i = 0; i < ways.entries.size(); ++i) {
    end.assign(graph_.duration.size(), kUnreached);
    ways.previous[i].assign(graph_.duration.size(), -1);
    for (const int v : order_) {
      const auto index = static_cast<std::size_t>(v);
      double start = v == ways.entries[i] ? 0.0 : kUnreached;
      for (const Arc& arc : incoming(v)) {
        if (arc.lag > 0 || end[arc.from] <= start) continue;
        start = end[arc.from];
        ways.previous[i][index] = arc.from;
      }
      if (start > kUnreached) end[index] = start + graph_.duration[index];
    }
    for (const auto* edge : back) {
      const double length = end[edge->from];
      if (length == kUnreached) continue;
      ways.all.push_back({i, edge, length});
      ways.longest = std::max(ways.longest, length);
    }
  }
  return ways;
}

CriticalCycle TimedEventSolver::critical_cycle() const {
  const Ways ways = longest_ways();
  if (ways.entries.empty()) return {};
  Reduced reduced(ways.entries.size());
  const double scale = ways.longest > 0 ? 1.0 / ways.longest : 1.0;
  for (std::size_t w = 0; w < ways.all.size(); ++w)
    boost::add_edge(
        ways.all[w].entry, ways.entry_index(ways.all[w].back->to),
        Weight(ways.all[w].length * scale, {static_cast<double>(ways.all[w].back->lag), static_cast<int>(w)}), reduced);
  std::vector<Reduced::edge_descriptor> edges;
  boost::maximum_cycle_ratio(reduced, get(boost::vertex_index, reduced), get(boost::edge_weight, reduced),
                             get(boost::edge_weight2, reduced), &edges, Precision());

  CriticalCycle cycle;
  double time = 0.0;
  for (const auto& edge : edges) {
    const Ways::Way& way = ways.all[get(boost::edge_index, reduced, edge)];
    time += way.length;
    cycle.lag += way.back->lag;
    std::vector<int> path;
    for (int v = way.back->from; v >= 0; v = v == ways.entries[way.entry] ? -1 : ways.previous[way.entry][v])
      path.push_back(v);
    cycle.vertices.insert(cycle.vertices.end(), path.rbegin(), path.rend());
  }
  if (cycle.lag > 0) cycle.period = time / cycle.lag;
  return cycle;
}

std::vector<double> TimedEventSolver::periodic_starts(const CriticalCycle& cycle) const {
  std::vector<double> start(graph_.duration.size(), kUnreached);
  if (cycle.vertices.empty()) return first_step();
  start[cycle.vertices.front()] = 0.0;
  // Relaxes in topological order. Each turn fixes one more edge with lag > 0 on the longest paths.
  const double tolerance = 1e-12 * cycle.period;
  for (int turn = 0; turn < size() + 2; ++turn) {
    bool changed = false;
    for (const int v : order_)
      for (const Arc& arc : incoming(v)) {
        const auto from = static_cast<std::size_t>(arc.from);
        if (start[from] == kUnreached) continue;
        const double earliest = start[from] + graph_.duration[from] - cycle.period * arc.lag;
        double& mine = start[v];
        if (earliest > mine + tolerance || mine == kUnreached) {
          mine = std::max(mine, earliest);
          changed = true;
        }
      }
    if (!changed) break;
  }
  // Vertices that the critical cycle does not reach run ahead of it. Any start time is valid for them.
  for (double& time : start)
    if (time == kUnreached) time = 0.0;
  return start;
}

std::vector<double> TimedEventSolver::first_step() const {
  std::vector<double> start(graph_.duration.size(), 0.0);
  for (const int v : order_)
    for (const Arc& arc : incoming(v)) {
      const auto from = static_cast<std::size_t>(arc.from);
      if (arc.lag == 0) start[v] = std::max(start[v], start[from] + graph_.duration[from]);
    }
  return start;
}

}  // namespace stepcast
