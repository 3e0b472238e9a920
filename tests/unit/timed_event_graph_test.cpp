#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "models/equation/timed_event_graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/property.hpp"

using namespace stepcast;
using namespace stepcast::test;

namespace {

struct TimedEventGraph {
  using Edge = TimedEventSolver::Edge;
  std::vector<double> duration;
  std::vector<Edge> edges;
};

/// Questions about one graph with its durations.
class GraphSolver {
 public:
  explicit GraphSolver(TimedEventGraph graph)
      : graph_(std::move(graph)), solver_(graph_.duration.size(), graph_.edges) {}
  [[nodiscard]] TimedEventSolver::SteadyState steady_state() const { return {solver_, graph_.duration}; }
  [[nodiscard]] CriticalCycle critical_cycle() const { return steady_state().critical_cycle(); }
  [[nodiscard]] std::vector<double> first_step() const { return solver_.first_step(graph_.duration); }

 private:
  TimedEventGraph graph_;
  TimedEventSolver solver_;
};

struct Ratio {
  bool found = false;
  double value = 0.0;
};

/// The maximum cycle ratio by definition: every simple cycle in turn.
Ratio brute_force(const TimedEventGraph& graph) {
  Ratio best;
  const int n = static_cast<int>(graph.duration.size());
  std::vector<bool> on_path(n, false);
  const std::function<void(int, int, double, int)> extend = [&](int start, int v, double time, int lag) {
    time += graph.duration[v];
    on_path[v] = true;
    for (const auto& edge : graph.edges) {
      if (edge.from != v || edge.to < start) continue;  // `start` is the smallest of its cycle
      if (edge.to == start) {
        const double ratio = time / (lag + edge.lag);
        if (!best.found || ratio > best.value) best = {true, ratio};
      } else if (!on_path[edge.to]) {
        extend(start, edge.to, time, lag + edge.lag);
      }
    }
    on_path[v] = false;
  };
  for (int start = 0; start < n; ++start) extend(start, start, 0.0, 0);
  return best;
}

/// Whether some cycle has time above `period` * lag: Bellman and Ford's test for a positive cycle.
bool exceeds(const TimedEventGraph& graph, double period) {
  std::vector<double> x(graph.duration.size(), 0.0);
  for (std::size_t pass = 0; pass <= graph.duration.size(); ++pass) {
    bool changed = false;
    for (const auto& edge : graph.edges) {
      const double reach = x[edge.from] + graph.duration[edge.from] - period * edge.lag;
      double& mine = x[edge.to];
      if (reach > mine) {
        mine = reach;
        changed = true;
      }
    }
    if (!changed) return false;
  }
  return true;
}

/// The cycle that critical_cycle() names is in the graph, closes, and has the ratio it claims.
void assert_real(const TimedEventGraph& graph, const CriticalCycle& cycle) {
  RC_ASSERT(!cycle.vertices.empty());
  double time = 0.0;
  int lag = 0;
  for (std::size_t i = 0; i < cycle.vertices.size(); ++i) {
    const int from = cycle.vertices[i], to = cycle.vertices[(i + 1) % cycle.vertices.size()];
    time += graph.duration[from];
    int least = std::numeric_limits<int>::max();  // among parallel edges the one with the smallest lag is critical
    for (const auto& edge : graph.edges)
      if (edge.from == from && edge.to == to) least = std::min(least, edge.lag);
    RC_ASSERT(least < std::numeric_limits<int>::max());
    lag += least;
  }
  if (cycle.period > 0) RC_ASSERT(lag == cycle.lag);
  assert_close(time / cycle.lag, cycle.period, 1e-12, "ratio of the critical cycle");
}

/// Edges of lag 0 follow a random order of the vertices, others go anywhere; zero durations and parallel edges
/// included.
TimedEventGraph random_graph(int max_vertices, int edges_per_vertex, const std::function<double()>& duration) {
  TimedEventGraph graph;
  const int n = integer_between(1, max_vertices);
  std::vector<int> rank(n);
  std::iota(rank.begin(), rank.end(), 0);
  for (int i = n - 1; i > 0; --i) std::swap(rank[i], rank[integer_between(0, i)]);
  for (int v = 0; v < n; ++v) graph.duration.push_back(integer_between(0, 9) == 0 ? 0.0 : duration());
  const int m = integer_between(0, edges_per_vertex * n);
  for (int e = 0; e < m; ++e) {
    const int from = integer_between(0, n - 1), to = integer_between(0, n - 1);
    const bool forward = rank[from] < rank[to];
    graph.edges.push_back({from, to, integer_between(forward ? 0 : 1, 3)});
  }
  return graph;
}

/// Adds a cycle through all vertices, so that each reaches each.
void connect_strongly(TimedEventGraph& graph) {
  const int n = static_cast<int>(graph.duration.size());
  for (int v = 0; v < n; ++v) graph.edges.push_back({v, (v + 1) % n, 1});
}

/// Start times of all vertices in steps 0 .. steps-1, from time 0 on: those of the first step of all these as one.
std::vector<std::vector<double>> first_steps(const TimedEventGraph& graph, int steps) {
  const auto n = static_cast<int>(graph.duration.size());
  TimedEventGraph all;
  for (int t = 0; t < steps; ++t) {
    all.duration.insert(all.duration.end(), graph.duration.begin(), graph.duration.end());
    for (const auto& edge : graph.edges)
      if (t >= edge.lag) all.edges.push_back({edge.from + (t - edge.lag) * n, edge.to + t * n, 0});
  }
  const std::vector<double> starts = GraphSolver(all).first_step();
  std::vector<std::vector<double>> by_step;
  for (auto first = starts.begin(); first != starts.end(); first += n) by_step.emplace_back(first, first + n);
  return by_step;
}

std::string show(const TimedEventGraph& graph) {
  std::string text = "durations";
  for (const double d : graph.duration) text += fmt::format(" {}", d);
  for (const auto& e : graph.edges) text += fmt::format(", {}->{} lag {}", e.from, e.to, e.lag);
  return text;
}

void assert_maximum(const TimedEventGraph& graph) {
  RC_LOG(show(graph));
  const Ratio expected = brute_force(graph);
  const CriticalCycle cycle = GraphSolver(graph).critical_cycle();
  if (!expected.found || expected.value == 0.0) {
    RC_ASSERT(cycle.period == 0.0);
    return;
  }
  assert_close(expected.value, cycle.period, 1e-11, "period against all simple cycles");
  assert_real(graph, cycle);
}

constexpr int kCases = 3000;

}  // namespace

TEST_CASE("critical cycle of hand-made graphs") {
  // Vertices: A = 3, B = 5. Cycle A alone, B alone, and A→B→A over K = 2 steps: max(3, 5, 8/2) = 5.
  TimedEventGraph pipeline{{3, 5}, {{0, 0, 1}, {1, 1, 1}, {0, 1, 0}, {1, 0, 2}}};
  CHECK(GraphSolver(pipeline).critical_cycle().period == 5);
  CHECK(GraphSolver(pipeline).critical_cycle().vertices == std::vector<int>{1});
  CHECK(GraphSolver(pipeline).critical_cycle().lag == 1);
  // K = 1: max(3, 5, 8) = 8 through both.
  pipeline.edges.back().lag = 1;
  CHECK(GraphSolver(pipeline).critical_cycle().period == 8);
  CHECK(GraphSolver(pipeline).critical_cycle().vertices.size() == 2);
  // No cycle at all: nothing bounds the rate.
  CHECK(GraphSolver(TimedEventGraph{{3, 5}, {{0, 1, 0}}}).critical_cycle().period == 0);
  CHECK(GraphSolver(TimedEventGraph{}).critical_cycle().period == 0);
  // Zero durations everywhere.
  CHECK(GraphSolver(TimedEventGraph{{0, 0}, {{0, 1, 0}, {1, 0, 1}}}).critical_cycle().period == 0);
  // The smaller lag of parallel edges binds: 7/1, not 7/3.
  CHECK(GraphSolver(TimedEventGraph{{7}, {{0, 0, 3}, {0, 0, 1}}}).critical_cycle().period == 7);
}

TEST_CASE("critical cycle is the maximum over all simple cycles") {
  property(
      "durations of one size", [] { assert_maximum(random_graph(6, 3, [] { return real_between(0, 1); })); }, kCases);
  property(
      "nanoseconds", [] { assert_maximum(random_graph(6, 3, [] { return real_between(0, 1e-9); })); }, kCases);
  property(
      "hours", [] { assert_maximum(random_graph(6, 3, [] { return real_between(0, 1e4); })); }, kCases);
  property(
      "equal durations, many critical cycles", [] { assert_maximum(random_graph(6, 3, [] { return 1.0; })); }, kCases);
}

TEST_CASE("critical cycle among durations of very different sizes") {
  // Durations from 1e-9 s to 1e4 s side by side, every vertex in the same strongly connected component.
  property(
      "1e-9 s beside 1e4 s",
      [] {
        TimedEventGraph graph = random_graph(6, 3, [] { return positive_between(1e-9, 1e4); });
        connect_strongly(graph);
        assert_maximum(graph);
      },
      kCases);
}

TEST_CASE("critical cycle of larger graphs") {
  // Too many cycles to list. A period is the maximum when a cycle has it and no cycle exceeds it.
  property(
      "no cycle exceeds the critical one",
      [] {
        TimedEventGraph graph = random_graph(80, 4, [] { return real_between(0, 1); });
        connect_strongly(graph);
        const CriticalCycle cycle = GraphSolver(graph).critical_cycle();
        RC_PRE(cycle.period > 0);
        assert_real(graph, cycle);
        RC_ASSERT_FALSE(exceeds(graph, cycle.period * (1 + 1e-9)));
        RC_ASSERT(exceeds(graph, cycle.period * (1 - 1e-9)));
      },
      300);
}

TEST_CASE("the period scales with the unit of time") {
  property(
      "durations times 10^k give a period times 10^k",
      [] {
        TimedEventGraph graph = random_graph(12, 3, [] { return real_between(0, 1); });
        const double period = GraphSolver(graph).critical_cycle().period;
        const double factor = std::pow(10.0, integer_between(-12, 6));
        for (double& d : graph.duration) d *= factor;
        assert_close(period * factor, GraphSolver(graph).critical_cycle().period, 1e-12, "scaled period");
      },
      kCases);
}

TEST_CASE("the period is the growth rate of the earliest start times") {
  // For a vertex v of the critical cycle of time C over l steps: x_v(t + l) >= x_v(t) + C, so x_v(k·l) >= k·C.
  // A path into (v, T) is a simple path and cycles of ratio at most λ: x_v(T) <= λT + (sum of all durations).
  property(
      "k·C <= x(k·l) <= λ·k·l + sum of durations",
      [] {
        TimedEventGraph graph = random_graph(8, 3, [] { return real_between(0, 1); });
        graph.edges.push_back({0, 0, integer_between(1, 3)});
        const GraphSolver solver(graph);
        const CriticalCycle cycle = solver.critical_cycle();
        const int k = integer_between(1, 30), steps = k * cycle.lag;
        const auto starts = first_steps(graph, steps + 1);
        const double sum = std::accumulate(graph.duration.begin(), graph.duration.end(), 0.0);
        for (const int v : cycle.vertices) RC_ASSERT(starts.back()[v] >= cycle.period * steps * (1 - 1e-9));
        for (const double x : starts.back()) RC_ASSERT(x <= (cycle.period * steps + sum) * (1 + 1e-9));
      },
      1000);
}

TEST_CASE("first steps by hand") {
  // A = 3, B = 5, pipelined with K = 2:
  //   A(t) = max(A(t-1) + 3, B(t-2) + 5),  B(t) = max(A(t) + 3, B(t-1) + 5)
  //   t      0   1   2   3
  //   A      0   3   8  13        8 = B(0) + 5, 13 = B(1) + 5
  //   B      3   8  13  18
  const TimedEventGraph graph{{3, 5}, {{0, 0, 1}, {1, 1, 1}, {0, 1, 0}, {1, 0, 2}}};
  CHECK(first_steps(graph, 4) == std::vector<std::vector<double>>{{0, 3}, {3, 8}, {8, 13}, {13, 18}});
}

TEST_CASE("periodic starts satisfy every edge, and are the least that the critical cycle forces") {
  property(
      "x_v >= x_u + d_u - λ·lag, one of them with equality",
      [] {
        TimedEventGraph graph = random_graph(10, 3, [] { return real_between(0, 1); });
        connect_strongly(graph);
        RC_LOG(show(graph));
        const GraphSolver solver(graph);
        const auto steady = solver.steady_state();
        RC_PRE(steady.period() > 0);
        const std::vector<double> x = steady.starts();
        const double tolerance = 1e-9 * std::accumulate(graph.duration.begin(), graph.duration.end(), 0.0);
        std::vector<double> slack(x.size(), std::numeric_limits<double>::infinity());
        for (const auto& edge : graph.edges) {
          const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
          slack[to] = std::min(slack[to], x[to] - (x[from] + graph.duration[from] - steady.period() * edge.lag));
        }
        for (const double s : slack) RC_ASSERT(std::abs(s) <= tolerance);
      },
      kCases);
}

TEST_CASE("starts by hand") {
  const auto starts = [](const TimedEventGraph& graph) { return GraphSolver(graph).steady_state().starts(); };
  using Times = std::vector<double>;
  // Without a cycle, they are those of the first step.
  CHECK(starts({{3, 5}, {{0, 1, 0}}}) == Times{0, 3});
  // The cycle of B = 3 is critical. It does not reach A.
  CHECK(starts({{2, 3}, {{0, 0, 1}, {1, 1, 1}}}) == Times{0, 0});
  // A follows B of the step before: 0 + 3 - 3. C follows A inside the step.
  CHECK(starts({{2, 3, 1}, {{1, 1, 1}, {1, 0, 1}, {0, 2, 0}}}) == Times{0, 0, 2});
  // A period of zero.
  CHECK(starts({{0, 0}, {{0, 1, 0}, {1, 0, 1}}}) == Times{0, 0});
}

TEST_CASE("a step that waits for itself is refused") {
  CHECK_THROWS_AS(GraphSolver(TimedEventGraph{{1}, {{0, 0, 0}}}), std::logic_error);
  CHECK_THROWS_AS(GraphSolver(TimedEventGraph{{1, 1}, {{0, 1, 0}, {1, 0, 0}}}), std::logic_error);
  // Even when no time passes on the way.
  CHECK_THROWS_AS(GraphSolver(TimedEventGraph{{0, 0, 0}, {{0, 1, 0}, {1, 2, 0}, {2, 1, 0}}}), std::logic_error);
  property(
      "any cycle of lag 0 is found",
      [] {
        TimedEventGraph graph = random_graph(8, 2, [] { return 1.0; });
        const int n = static_cast<int>(graph.duration.size()), length = integer_between(1, n);
        for (int i = 0; i < length; ++i) graph.edges.push_back({i, (i + 1) % length, 0});
        RC_ASSERT_THROWS_AS(GraphSolver{graph}, std::logic_error);
      },
      300);
}
