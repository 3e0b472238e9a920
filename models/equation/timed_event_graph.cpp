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
  position_.resize(n);
  first_before_.reserve(n + 1);
  before_.reserve(edges.size());
  for (std::size_t i = 0; i < n; ++i) {
    position_[order_[i]] = i;
    first_before_.push_back(before_.size());
    for (const Arc& arc : incoming(order_[i]))
      if (arc.lag == 0) before_.push_back(arc.from);
  }
  first_before_.push_back(before_.size());
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
  std::vector<std::vector<double>> ends;  ///< by entry and vertex: longest time from the entry's start to that end
  double longest = 0.0;
};

TimedEventSolver::Ways TimedEventSolver::longest_ways(Durations duration) const {
  Ways ways;
  ways.ends.resize(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::vector<double>& end = ways.ends[i];
    end.assign(duration.size(), kUnreached);
    const std::size_t first = position_[entries_[i]];
    for (std::size_t at = first; at < order_.size(); ++at) {
      double start = at == first ? 0.0 : kUnreached;
      for (const int from : before(at)) start = std::max(start, end[from]);
      if (start > kUnreached) end[order_[at]] = start + duration[order_[at]];
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

/// The vertices of the longest way, the last first.
std::vector<int> TimedEventSolver::path_back(const Ways& ways, std::size_t entry, int last) const {
  const std::vector<double>& end = ways.ends[entry];
  std::vector<int> path{last};
  while (path.back() != entries_[entry]) {
    const auto all = before(position_[path.back()]);
    path.push_back(*std::max_element(all.begin(), all.end(), [&](int a, int b) { return end[a] < end[b]; }));
  }
  return path;
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
    const std::vector<int> path = path_back(ways, way.entry, way.back->from);
    cycle.vertices.insert(cycle.vertices.end(), path.rbegin(), path.rend());
  }
  if (cycle.lag > 0) cycle.period = time / cycle.lag;
  return cycle;
}

std::vector<double> TimedEventSolver::periodic_starts(Durations duration, const CriticalCycle& cycle) const {
  std::vector<double> start(duration.size(), kUnreached);
  if (cycle.vertices.empty()) return first_step(duration);
  std::vector<double> end(duration.size(), kUnreached);
  const auto first = static_cast<std::size_t>(cycle.vertices.front());
  start[first] = 0.0;
  end[first] = duration[first];
  // Relaxes in topological order. Each turn fixes one more edge with lag > 0 on the longest paths.
  const double tolerance = 1e-12 * cycle.period;
  for (int turn = 0; turn < size() + 2; ++turn) {
    bool changed = false;
    for (const int v : order_) {
      double limit = start[v] + tolerance;
      for (const Arc& arc : incoming(v)) {
        const double earliest = end[arc.from] - cycle.period * arc.lag;  // below any limit if it is not reached
        if (!(earliest > limit)) continue;
        start[v] = earliest;
        end[v] = earliest + duration[v];
        limit = earliest + tolerance;
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
  std::vector<double> start(duration.size()), end(duration.size());
  for (std::size_t at = 0; at < order_.size(); ++at) {
    double earliest = 0.0;
    for (const int from : before(at)) earliest = std::max(earliest, end[from]);
    start[order_[at]] = earliest;
    end[order_[at]] = earliest + duration[order_[at]];
  }
  return start;
}

}  // namespace stepcast
