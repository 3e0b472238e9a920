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

TimedEventSolver::TimedEventSolver(std::size_t vertices, const std::vector<Edge>& edges) : first_before_(vertices + 1) {
  const auto n = vertices;
  std::vector<int> waits(n, 0);
  std::vector<int> head(n, -1), next(edges.size(), -1);  // outgoing edges of lag 0 as linked lists
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const Edge& edge = edges[e];
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
      if (--waits[edges[e].to] == 0) order_.push_back(edges[e].to);
  if (order_.size() != n) throw std::logic_error("a step graph's dependencies inside one step form a cycle");

  std::vector<int> place(n);
  for (std::size_t i = 0; i < n; ++i) place[order_[i]] = static_cast<int>(i);
  for (const Edge& edge : edges)
    if (edge.lag == 0) ++first_before_[static_cast<std::size_t>(place[edge.to]) + 1];
  std::partial_sum(first_before_.begin(), first_before_.end(), first_before_.begin());
  before_.resize(first_before_.back());
  std::vector<std::size_t> free(first_before_.begin(), first_before_.end() - 1);
  for (const Edge& edge : edges) {
    const int from = place[edge.from], to = place[edge.to];
    if (edge.lag == 0) {
      before_[free[to]++] = from;
    } else {
      back_.push_back({from, to, edge.lag});
      entries_.push_back(to);
    }
  }
  std::sort(entries_.begin(), entries_.end());
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
}

std::vector<double> TimedEventSolver::in_order(Durations duration) const {
  std::vector<double> ordered;
  ordered.reserve(order_.size());
  for (const int v : order_) ordered.push_back(duration[v]);
  return ordered;
}

std::vector<double> TimedEventSolver::by_vertex(std::span<const double> times) const {
  std::vector<double> all(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) all[order_[i]] = times[i];
  return all;
}

void TimedEventSolver::run(std::size_t first, std::span<const double> duration, std::span<double> start,
                           std::span<double> end) const {
  for (std::size_t at = first; at < order_.size(); ++at) {
    double earliest = start[at];
    for (const int other : before(at)) earliest = std::max(earliest, end[other]);
    start[at] = earliest;
    end[at] = earliest + duration[at];
  }
}

std::vector<double> TimedEventSolver::first_step(Durations duration) const {
  std::vector<double> start(order_.size(), 0.0), end(order_.size());
  run(0, in_order(duration), start, end);
  return by_vertex(start);
}

TimedEventSolver::SteadyState::SteadyState(const TimedEventSolver& solver, Durations duration)
    : solver_(solver), duration_(solver.in_order(duration)) {
  find_ways();
  if (!ways_.empty()) find_cycle();
}

void TimedEventSolver::SteadyState::run_from(std::size_t entry, std::vector<double>& start,
                                             std::vector<double>& end) const {
  const auto first = static_cast<std::size_t>(solver_.entries_[entry]);
  start.assign(duration_.size(), kUnreached);
  end.assign(duration_.size(), kUnreached);
  start[first] = 0.0;
  solver_.run(first, duration_, start, end);
}

void TimedEventSolver::SteadyState::find_ways() {
  const std::vector<int>& entries = solver_.entries_;
  std::vector<double> start, end;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    run_from(i, start, end);
    for (const Edge& edge : solver_.back_) {
      if (end[edge.from] == kUnreached) continue;
      const auto to = std::lower_bound(entries.begin(), entries.end(), edge.to) - entries.begin();
      ways_.push_back({i, static_cast<std::size_t>(to), &edge, end[edge.from]});
    }
  }
}

void TimedEventSolver::SteadyState::find_cycle() {
  double longest = 0.0;
  for (const Way& way : ways_) longest = std::max(longest, way.length);
  const double scale = longest > 0 ? 1.0 / longest : 1.0;
  Reduced reduced(solver_.entries_.size());
  for (std::size_t w = 0; w < ways_.size(); ++w)
    boost::add_edge(ways_[w].from, ways_[w].to,
                    Weight(ways_[w].length * scale, {static_cast<double>(ways_[w].back->lag), static_cast<int>(w)}),
                    reduced);
  std::vector<Reduced::edge_descriptor> edges;
  boost::maximum_cycle_ratio(reduced, get(boost::vertex_index, reduced), get(boost::edge_weight, reduced),
                             get(boost::edge_weight2, reduced), &edges, Precision());
  double time = 0.0;
  for (const auto& edge : edges) {
    cycle_.push_back(static_cast<std::size_t>(get(boost::edge_index, reduced, edge)));
    time += ways_[cycle_.back()].length;
    lag_ += ways_[cycle_.back()].back->lag;
  }
  if (lag_ > 0) period_ = time / lag_;
}

CriticalCycle TimedEventSolver::SteadyState::critical_cycle() const {
  CriticalCycle cycle{period_, {}, lag_};
  std::vector<double> start, end;
  for (const std::size_t w : cycle_) {
    run_from(ways_[w].from, start, end);
    // The longest way, from its last vertex back.
    std::vector<int> path{ways_[w].back->from};
    while (path.back() != solver_.entries_[ways_[w].from]) {
      const auto all = solver_.before(path.back());
      path.push_back(*std::max_element(all.begin(), all.end(), [&](int a, int b) { return end[a] < end[b]; }));
    }
    for (auto place = path.rbegin(); place != path.rend(); ++place) cycle.vertices.push_back(solver_.order_[*place]);
  }
  return cycle;
}

/// The starts of the entries, relative to one on the critical cycle.
std::vector<double> TimedEventSolver::SteadyState::entry_starts() const {
  std::vector<double> start(solver_.entries_.size(), kUnreached);
  start[ways_[cycle_.front()].from] = 0.0;
  // Each turn fixes one more way of the longest paths.
  const double tolerance = 1e-12 * period_;
  bool changed = true;
  for (std::size_t turn = 0; changed && turn < start.size() + 2; ++turn) {
    changed = false;
    for (const Way& way : ways_) {
      const double earliest = start[way.from] + way.length - period_ * way.back->lag;
      if (!(earliest > start[way.to] + tolerance)) continue;  // also where `from` is not reached
      start[way.to] = earliest;
      changed = true;
    }
  }
  return start;
}

std::vector<double> TimedEventSolver::SteadyState::starts() const {
  const bool is_cyclic = !cycle_.empty();
  std::vector<double> start(duration_.size(), is_cyclic ? kUnreached : 0.0), end(duration_.size());
  if (is_cyclic) {
    const std::vector<double> of_entries = entry_starts();
    for (std::size_t i = 0; i < of_entries.size(); ++i) start[solver_.entries_[i]] = of_entries[i];
  }
  solver_.run(0, duration_, start, end);
  std::vector<double> all = solver_.by_vertex(start);
  // Vertices that the critical cycle does not reach run ahead of it. Any start time is valid for them.
  if (is_cyclic) std::replace(all.begin(), all.end(), kUnreached, 0.0);
  return all;
}

}  // namespace stepcast
