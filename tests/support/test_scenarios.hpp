// Scenarios and workloads made in code, for tests of strategies.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/equation/evaluate.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/builder.hpp"
#include "models/workload/workload.hpp"

namespace stepcast::test {

/// A workload of one gradient that is ready when backward ends.
inline Workload simple_workload(Seconds forward, Seconds backward, Seconds update, Bytes gradient) {
  Workload w;
  w.forward = forward;
  w.backward = backward;
  w.update = update;
  w.gradients = {{"all", static_cast<std::int64_t>(gradient.si() / 4), gradient, backward}};
  w.gradient_bytes = gradient;
  return w;
}

/// A workload of gradients given as (bytes, gap), and a tail.
inline Workload workload_of(Seconds forward, const std::vector<std::pair<double, double>>& gradients, Seconds tail,
                            Seconds update) {
  Workload w;
  w.forward = forward;
  w.update = update;
  w.tail = tail;
  for (const auto& [bytes, gap] : gradients) {
    w.gradients.push_back({"g", static_cast<std::int64_t>(bytes / 4), Bytes(bytes), Seconds(gap)});
    w.gradient_bytes += Bytes(bytes);
    w.backward += Seconds(gap);
  }
  w.backward += tail;
  return w;
}

inline Cluster star_cluster(int workers, BytesPerSecond bandwidth, Seconds latency = {}) {
  Cluster cluster;
  cluster.workers = workers;
  cluster.link = {bandwidth, latency};
  return cluster;
}

inline CollectiveChoice ring_choice() {
  CollectiveChoice choice;
  choice.algorithm = Algorithm::ring;
  return choice;
}

/// A ring all-reduce of n bytes, written out: 2(p-1)α + 2(p-1)/p·n(β+h) + (p-1)/p·nγ + S; nothing for p = 1.
inline double ring_all_reduce(const Cluster& c, double n) {
  if (c.workers == 1) return 0;
  const double p = c.workers, share = (p - 1) / p;
  return 2 * (p - 1) * c.link.latency.si() + 2 * share * n * (1 / c.link.bandwidth.si() + c.stack.host_cost.si()) +
         share * n * c.reduction_cost.si() + c.collective_cost.si();
}

inline Scenario scenario_of(Cluster cluster, Strategy strategy, Compressor compressor = NoCompressor{}) {
  Scenario scenario;
  scenario.cluster = std::move(cluster);
  scenario.strategy = std::move(strategy);
  scenario.compressor = compressor;
  return scenario;
}

inline StepForecast forecast(const Scenario& scenario, const Workload& workload) {
  return evaluate(build_step_graph(scenario, workload), scenario.cluster);
}

/// Seconds of one steady-state step.
inline double step_time(const Scenario& scenario, const Workload& workload) {
  return forecast(scenario, workload).step.si();
}

/// The first `steps` passes of the template as one: what a pass waits for in those before it, it waits for in the same
/// one.
inline StepGraph unrolled(const StepGraph& graph, int steps) {
  StepGraph all = graph;
  all.tasks.clear();
  all.dependencies.clear();
  const auto of_step = [&](TaskId task, int step) { return task + step * static_cast<TaskId>(graph.tasks.size()); };
  for (int t = 0; t < steps; ++t) {
    all.tasks.insert(all.tasks.end(), graph.tasks.begin(), graph.tasks.end());
    for (const Dependency& d : graph.dependencies)
      if (t >= d.lag && (!d.until || t < *d.until)) all.depend(of_step(d.after, t), of_step(d.before, t - d.lag));
  }
  return all;
}

/// Seconds of the first `steps` steps, from a standing start.
/// @pre one step a pass
inline double time_of_steps(const Scenario& scenario, const Workload& workload, int steps) {
  return evaluate(unrolled(build_step_graph(scenario, workload), steps), scenario.cluster).first_step.si();
}

}  // namespace stepcast::test
