// Step graphs that points of a study share.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "models/equation/unfolded_graph.hpp"
#include "models/report/worker_memory.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/asked_prices.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// A scenario's step graph as build_without_shares() makes it.
class KeptGraph {
 public:
  explicit KeptGraph(StepGraph built) : graph(std::move(built)) {}

  const StepGraph graph;
  /// The graph for the equations, made when first asked for.
  /// @param cluster  the scenario's, with any link
  const UnfoldedGraph& unfolded(const Cluster& cluster) {
    if (!unfolded_) unfolded_.emplace(graph, cluster);
    return *unfolded_;
  }
  /// worker_memory(), made when first asked for. No link changes it.
  /// @param scenario, workload  those of the graph, with any link
  const WorkerMemory& memory(const Scenario& scenario, const Workload& workload) {
    if (!memory_) memory_ = worker_memory(scenario, workload);
    return *memory_;
  }

 private:
  std::optional<UnfoldedGraph> unfolded_;
  std::optional<WorkerMemory> memory_;
};

/// Builds step graphs, and keeps recent ones for scenarios that differ in their cluster's link only: a search along a
/// bandwidth asks many of them. A kept graph serves another link if its builder would get the same answers there
/// (PriceQuestions). Not thread-safe.
class KeptGraphs {
 public:
  static constexpr std::size_t kMost = 256, kMostTasks = 1 << 17;  ///< limit the memory

  /// @param workload  the scenario's; scenarios with one table have equal ones
  /// @param prices    of its cluster
  std::shared_ptr<KeptGraph> of(const Scenario& scenario, const Workload& workload, const ClusterPrices& prices);

  /// The number of graphs that were built so far.
  [[nodiscard]] std::size_t built() const { return built_; }

 private:
  struct Kept {
    Scenario scenario;  ///< without its link
    PriceQuestions questions;
    std::shared_ptr<KeptGraph> graph;
  };
  void keep(Kept one);

  std::list<Kept> kept_;  ///< the most recent first
  std::size_t tasks_ = 0, built_ = 0;
};

}  // namespace stepcast
