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

  class SteadyState;

  /// Start times of all vertices in the first step. Every vertex starts as early as possible from time 0.
  [[nodiscard]] std::vector<double> first_step(Durations duration) const;

 private:
  // Vertices below are known by their place in the order.

  /// The vertices with an edge of lag 0 to this one.
  [[nodiscard]] std::span<const int> before(std::size_t place) const {
    return std::span(before_).subspan(first_before_[place], first_before_[place + 1] - first_before_[place]);
  }
  [[nodiscard]] std::vector<double> in_order(Durations duration) const;
  [[nodiscard]] std::vector<double> by_vertex(std::span<const double> times) const;
  /// Starts all vertices from place `first` on, none before its time in `start` nor before the ends of those that it
  /// waits for inside the step.
  void run(std::size_t first, std::span<const double> duration, std::span<double> start, std::span<double> end) const;

  std::vector<int> order_;                 ///< topological for edges of lag 0
  std::vector<int> before_;                ///< the starts of edges of lag 0, by their end
  std::vector<std::size_t> first_before_;  ///< by vertex, and the end of the last one's
  std::vector<Edge> back_;                 ///< the edges to later steps
  std::vector<int> entries_;               ///< the vertices that they lead to, each once in order
};

/// The long run for one set of durations. It first contracts paths inside one step: only the longest ways between the
/// few vertices that an earlier step reaches (entries) matter. There, Howard's algorithm (Boost.Graph) finds the cycle
/// with maximum ratio.
class TimedEventSolver::SteadyState {
 public:
  /// @param solver  outlives this
  SteadyState(const TimedEventSolver& solver, Durations duration);

  [[nodiscard]] double period() const { return period_; }
  /// The number of steps in the critical cycle; 0 without a cycle.
  [[nodiscard]] int lag() const { return lag_; }
  [[nodiscard]] CriticalCycle critical_cycle() const;
  /// Start times within one period of the periodic regime, which grows by `period` per step. They are relative to a
  /// vertex of the critical cycle, and they are the least solution that this cycle permits. Without a cycle, they are
  /// those of the first step.
  [[nodiscard]] std::vector<double> starts() const;

 private:
  /// A way from an entry to an edge that leads to a later step. Every cycle is made of ways.
  struct Way {
    std::size_t from, to;  ///< entries, by index
    const Edge* back;
    double length;
  };
  /// The longest time from the entry's start to the end of each vertex.
  void run_from(std::size_t entry, std::vector<double>& start, std::vector<double>& end) const;
  void find_ways();
  void find_cycle();
  [[nodiscard]] std::vector<double> entry_starts() const;

  const TimedEventSolver& solver_;
  std::vector<double> duration_;  ///< in the solver's order
  std::vector<Way> ways_;
  std::vector<std::size_t> cycle_;  ///< the critical one's ways, in order
  double period_ = 0.0;
  int lag_ = 0;
};

}  // namespace stepcast
