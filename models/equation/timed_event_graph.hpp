// Timed event graphs: the mathematics of the long-run step time.
//
// Vertices take time. An edge (u, v, lag) means: v of step t starts after the end of u of step t - lag. The start times
// x satisfy x_v(t) = max over edges of x_u(t - lag) + d_u, a linear system over (max, +). Its growth rate is the
// steady-state period. It is the maximum cycle ratio
//
//     λ = max over cycles of (sum of durations) / (sum of lags)
//
// (Baccelli, Cohen, Olsder and Quadrat, Synchronization and Linearity, 1992, theorem 3.28).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stepcast {

struct CriticalCycle {
  double period = 0.0;
  std::vector<int> vertices;  ///< in order, starting anywhere
  int lag = 0;                ///< number of steps in the cycle
};

/// A graph's order inside one step, ready for the questions below with any durations of its vertices.
class TimedEventSolver {
 public:
  struct Edge {
    int from, to, lag;
  };
  using Durations = std::span<const double>;  ///< by vertex

  /// @throws std::logic_error when edges of lag 0 form a cycle: such a step can never start
  TimedEventSolver(std::size_t vertices, const std::vector<Edge>& edges);

  /// The cycle with maximum ratio. It first contracts paths inside one step: only the longest paths between the few
  /// vertices that an earlier step reaches matter. There, Howard's algorithm (Boost.Graph) finds the cycle.
  [[nodiscard]] CriticalCycle critical_cycle(Durations duration) const;

  /// Start times within one period of the periodic regime, which grows by `cycle.period` per step. They are relative to
  /// a vertex of the critical cycle, and they are the least solution that this cycle permits.
  [[nodiscard]] std::vector<double> periodic_starts(Durations duration, const CriticalCycle& cycle) const;

  /// Start times of all vertices in the first step. Every vertex starts as early as possible from time 0.
  [[nodiscard]] std::vector<double> first_step(Durations duration) const;

 private:
  struct Arc {
    int from;
    int lag;
  };
  [[nodiscard]] int size() const { return static_cast<int>(order_.size()); }
  [[nodiscard]] std::span<const Arc> incoming(int vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    return std::span(arcs_).subspan(first_arc_[v], first_arc_[v + 1] - first_arc_[v]);
  }

  /// The vertices with an edge of lag 0 to the one at this place of the order.
  [[nodiscard]] std::span<const int> before(std::size_t place) const {
    return std::span(before_).subspan(first_before_[place], first_before_[place + 1] - first_before_[place]);
  }

  struct Ways;
  [[nodiscard]] Ways longest_ways(Durations duration) const;
  [[nodiscard]] std::vector<int> path_back(const Ways& ways, std::size_t entry, int last) const;

  std::vector<int> order_;                 ///< topological for edges of lag 0
  std::vector<std::size_t> position_;      ///< in the order, by vertex
  std::vector<int> before_;                ///< the starts of edges of lag 0, by the place of their end in the order
  std::vector<std::size_t> first_before_;  ///< by place, and the end of the last one's
  std::vector<Arc> arcs_;                  ///< by the vertex that they lead to
  std::vector<std::size_t> first_arc_;     ///< by vertex, and the end of the last one's
  std::vector<Edge> back_;                 ///< the edges to later steps
  std::vector<int> entries_;               ///< the vertices that they lead to, each once in order
};

}  // namespace stepcast
