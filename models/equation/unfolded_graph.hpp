// The step graph as a timed event graph, apart from the times that links change.
#pragma once

#include <cstddef>
#include <vector>

#include "models/equation/timed_event_graph.hpp"
#include "models/part/cluster.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Workers with equal compute speed.
struct WorkerClass {
  int count = 0;
  double speed = 1.0;
};

/// The step graph expanded by worker classes: a computation or negotiation is one vertex per class, any other task is one
/// vertex. It depends on the workers' speeds, and on no link: points that share a step graph share this.
class UnfoldedGraph {
 public:
  UnfoldedGraph(const StepGraph& graph, const Cluster& cluster);

  /// In order of first appearance.
  [[nodiscard]] const std::vector<WorkerClass>& classes() const { return classes_; }
  [[nodiscard]] int vertex(std::size_t task, std::size_t cls) const {
    return first_[task] + (per_class(task) ? static_cast<int>(cls) : 0);
  }
  [[nodiscard]] std::size_t vertices() const { return static_cast<std::size_t>(first_.back()); }
  [[nodiscard]] std::size_t task_of(int vertex) const;
  /// The first task with an equal collective; the task itself without one.
  [[nodiscard]] std::size_t first_like(std::size_t task) const { return like_[task]; }
  [[nodiscard]] const TimedEventSolver& solver() const { return solver_; }
  /// By vertex. The times of computations and negotiations, and 0 for communication.
  [[nodiscard]] const std::vector<double>& own_times() const { return own_times_; }
  /// By task: the stack's share of it, as far as no link changes it.
  [[nodiscard]] const std::vector<double>& own_stack_shares() const { return own_stack_shares_; }
  /// The tasks that are no computations, in order.
  [[nodiscard]] const std::vector<std::size_t>& communication() const { return communication_; }
  /// A task of one of a worker's streams.
  struct WorkersTask {
    std::size_t task;
    Phase phase;
    std::size_t vertex;   ///< of the first class
    std::size_t to_next;  ///< from one class to the next: 0 where all have one vertex
  };
  /// They come stream by stream.
  [[nodiscard]] const std::vector<WorkersTask>& workers_tasks() const { return workers_tasks_; }

 private:
  [[nodiscard]] bool per_class(std::size_t task) const { return first_[task + 1] - first_[task] > 1; }

  std::vector<WorkerClass> classes_;
  std::vector<int> first_;  ///< by task its first vertex, and the end of the last one's
  std::vector<std::size_t> like_;
  TimedEventSolver solver_;
  std::vector<double> own_times_, own_stack_shares_;
  std::vector<std::size_t> communication_;
  std::vector<WorkersTask> workers_tasks_;
};

}  // namespace stepcast
