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

TimedEventSolver::TimedEventSolver(std::size_t vertices, const std::vector<Edge>& edges)
    : arcs_(edges.size()), first_arc_(vertices + 1) {
  const auto n = vertices;
  for (const auto& edge : edges) ++first_arc_[static_cast<std::size_t>(edge.to) + 1];
  std::partial_sum(first_arc_.begin(), first_arc_.end(), first_arc_.begin());
  std::vector<std::size_t> next_arc(first_arc_.begin(), first_arc_.end() - 1);
  std::vector<int> waits(n, 0);
  std::vector<int> head(n, -1), next(edges.size(), -1);  // outgoing edges of lag 0 as linked lists
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto& edge = edges[e];
    arcs_[next_arc[edge.to]++] = {edge.from, edge.lag};
    if (edge.lag > 0) {
      back_.push_back(edge);
      entries_.push_back(edge.to);
      continue;
    }
    ++waits[edge.to];
    next[e] = head[edge.from];
    head[edge.from] = static_cast<int>(e);
  }
  order_.reserve(n);
  for (std::size_t v = 0; v < n; ++v)
    if (waits[v] == 0) order_.push_back(static_cast<int>(v));
  for (std::size_t i = 0; i < order_.size(); ++i)
    for (int e = head[order_[i]]; e >= 0; e = next[e])
      if (--waits[edges[e].to] == 0) order_.push_back(edges[e].to);
  if (order_.size() != n) throw std::logic_error("a step graph's dependencies inside one step form a cycle");
  std::sort(entries_.begin(), entries_.end());
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
}

/// The cycles of the graph, as ways from an entry to an edge that leads to a later step. Entries are vertices with an
/// edge from an earlier step, so every cycle passes through at least one of them.
struct TimedEventSolver::Ways {
  struct Way {
    std::size_t entry;
    const Edge* back;
    double length;
  };
  std::vector<Way> all;
  std::vector<std::vector<int>> previous;  ///< by entry and vertex
  double longest = 0.0;
};

TimedEventSolver::Ways TimedEventSolver::longest_ways(Durations duration) const {
  Ways ways;
  ways.previous.resize(entries_.size());
  std::vector<double> end;  // longest time from the start of the entry to the end of the vertex
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    end.assign(duration.size(), kUnreached);
    ways.previous[i].assign(duration.size(), -1);
    for (const int v : order_) {
      const auto index = static_cast<std::size_t>(v);
      double start = v == entries_[i] ? 0.0 : kUnreached;
      for (const Arc& arc : incoming(v)) {
        if (arc.lag > 0 || end[arc.from] <= start) continue;
        start = end[arc.from];
        ways.previous[i][index] = arc.from;
      }
      if (start > kUnreached) end[index] = start + duration[index];
    }
    for (const Edge& edge : back_) {
      const double length = end[edge.from];
      if (length == kUnreached) continue;
      ways.all.push_back({i, &edge, length});
      ways.longest = std::max(ways.longest, length);
    }
  }
  return ways;
}

CriticalCycle TimedEventSolver::critical_cycle(Durations duration) const {
  const Ways ways = longest_ways(duration);
  if (entries_.empty()) return {};
  const auto entry_index = [&](int vertex) {
    return static_cast<std::size_t>(std::lower_bound(entries_.begin(), entries_.end(), vertex) - entries_.begin());
  };
  Reduced reduced(entries_.size());
  const double scale = ways.longest > 0 ? 1.0 / ways.longest : 1.0;
  for (std::size_t w = 0; w < ways.all.size(); ++w)
    boost::add_edge(
        ways.all[w].entry, entry_index(ways.all[w].back->to),
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
    for (int v = way.back->from; v >= 0; v = v == entries_[way.entry] ? -1 : ways.previous[way.entry][v])
      path.push_back(v);
    cycle.vertices.insert(cycle.vertices.end(), path.rbegin(), path.rend());
  }
  if (cycle.lag > 0) cycle.period = time / cycle.lag;
  return cycle;
}

std::vector<double> TimedEventSolver::periodic_starts(Durations duration, const CriticalCycle& cycle) const {
  std::vector<double> start(duration.size(), kUnreached);
  if (cycle.vertices.empty()) return first_step(duration);
  start[cycle.vertices.front()] = 0.0;
  // Relaxes in topological order. Each turn fixes one more edge with lag > 0 on the longest paths.
  const double tolerance = 1e-12 * cycle.period;
  for (int turn = 0; turn < size() + 2; ++turn) {
    bool changed = false;
    for (const int v : order_)
      for (const Arc& arc : incoming(v)) {
        const auto from = static_cast<std::size_t>(arc.from);
        if (start[from] == kUnreached) continue;
        const double earliest = start[from] + duration[from] - cycle.period * arc.lag;
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

std::vector<double> TimedEventSolver::first_step(Durations duration) const {
  std::vector<double> start(duration.size(), 0.0);
  for (const int v : order_)
    for (const Arc& arc : incoming(v)) {
      const auto from = static_cast<std::size_t>(arc.from);
      if (arc.lag == 0) start[v] = std::max(start[v], start[from] + duration[from]);
    }
  return start;
}

}  // namespace stepcast
