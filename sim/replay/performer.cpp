#include "sim/replay/performer.hpp"

#include <cstdint>
#include <variant>

#include "sim/replay/actor.hpp"
#include "sim/replay/jitter.hpp"

namespace stepcast {

Performer::Performer(Scene& scene, const Scenario& scenario, const StepGraph& graph, int run)
    : scene_(scene),
      scenario_(scenario),
      graph_(graph),
      run_(run),
      collectives_(scene, scenario.cluster, graph.tasks.size()),
      exchanges_(scene, scenario.cluster, graph),
      servers_(scene, scenario.cluster, graph) {}

struct Performer::Kinds {
  Performer& self;
  Lane& lane;
  TaskId task;
  int step;

  double operator()(const ComputeWork& work) const {
    return self.compute(work.duration, lane.participant->index, task, step);
  }
  double operator()(const ServeWork& work) const {
    const double start = now();
    sleep(work.time[static_cast<std::size_t>(lane.participant->index)].si());
    return start;
  }
  double operator()(const CollectiveWork& work) const { return self.collectives_.perform(work, lane, task); }
  double operator()(const ShardWork& work) const { return self.exchanges_.perform(work, lane, task); }
  double operator()(const NeighbourWork& work) const { return self.exchanges_.perform(work, lane, task); }
  double operator()(const ShardTransfer& work) const { return self.servers_.perform(work, lane); }
  double operator()(const ShardServe& work) const { return self.servers_.perform(work, lane); }
  double operator()(const ShardCopy& work) const { return self.servers_.perform(work, lane); }
};

double Performer::perform(TaskId task, Lane& lane, int step) {
  return std::visit(Kinds{*this, lane, task, step}, graph_.tasks[static_cast<std::size_t>(task)].work);
}

double Performer::compute(Seconds duration, int worker, TaskId task, int step) const {
  const double start = now();
  if (duration > Seconds{})
    simgrid::s4u::this_actor::execute(duration.si() * jitter(worker, task, step) * scene_.work_per_second());
  return start;
}

/// The mean factor of the micro-batches that a task belongs to.
double Performer::jitter(int worker, TaskId id, int step) const {
  const Jitter& jitter = scenario_.cluster.jitter;
  if (jitter.cv == 0) return 1.0;
  const Task& task = graph_.tasks[static_cast<std::size_t>(id)];
  const std::int64_t latest = std::int64_t{step} * graph_.draws() + task.micro_batch;
  double sum = 0;
  for (int i = 0; i < task.micro_batches; ++i)
    sum += jitter_factor(jitter, scenario_.evaluation.seed, run_, worker, latest - i);
  return sum / task.micro_batches;
}

}  // namespace stepcast
