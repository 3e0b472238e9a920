// Timed event graphs: the mathematics of "how long is a step in the long run".
//
// Vertices take time; an edge (u, v, lag) says that v of step t starts after u of step t - lag has ended. With
// start times x, x_v(t) = max over edges of x_u(t - lag) + d_u, a linear system over (max, +). Its growth
// rate, the steady-state period, is the maximum cycle ratio
//
//     λ = max over cycles of (sum of durations) / (sum of lags)
//
// (Baccelli, Cohen, Olsder and Quadrat, Synchronization and Linearity, 1992, theorem 3.28).
#pragma once

#include <vector>

namespace stepcast {

struct TimedEventGraph {
  struct Edge {
    int from, to, lag;
  };
  std::vector<double> duration;
  std::vector<Edge> edges;
};

struct CriticalCycle {
  double period = 0.0;
  std::vector<int> vertices;  ///< in order, starting anywhere
  int lag = 0;                ///< steps it spans
};

/// A graph with its order inside one step worked out, ready for the questions below.
class TimedEventSolver {
 public:
  /// @throws std::logic_error when edges of lag 0 form a cycle: such a step could never start
  explicit TimedEventSolver(const TimedEventGraph& graph);

  /// The cycle of maximum ratio. Paths inside one step are contracted first: between the few vertices that an
  /// earlier step reaches, only longest ways matter; Howard's algorithm (Boost.Graph) finds the cycle there.
  [[nodiscard]] CriticalCycle critical_cycle() const;

  /// Start times within one period of the periodic regime that grows by `cycle.period` a step, relative to a
  /// vertex of the critical cycle: the least solution that this cycle forces.
  [[nodiscard]] std::vector<double> periodic_starts(const CriticalCycle& cycle) const;

  /// Start times of all vertices in the first step, everything starting as early as it can from time 0.
  [[nodiscard]] std::vector<double> first_step() const;

 private:
  struct Arc {
    int from;
    int lag;
  };
  [[nodiscard]] int size() const { return static_cast<int>(graph_.duration.size()); }

  const TimedEventGraph& graph_;
  std::vector<int> order_;                  ///< topological for edges of lag 0
  std::vector<std::vector<Arc>> incoming_;  ///< by vertex
};

}  // namespace stepcast
