#include "sim/replay/executor.hpp"

#include <cstdint>
#include <variant>

#include "sim/replay/jitter.hpp"
#include "sim/replay/participants.hpp"

namespace stepcast {
namespace {

/// The first step of a worker begins before this: within a step's computing, or at 0 without chance.
Seconds latest_begin(const Scenario& scenario, const StepGraph& graph) {
  Seconds computing{};
  if (!begins_by_chance(scenario)) return computing;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<ComputeWork>(&task.work)) computing += work->duration;
  return computing;
}

}  // namespace

Executor::Executor(SimulatedCluster& simulated, const Scenario& scenario, const StepGraph& graph, int run)
    : simulated_(simulated),
      scenario_(scenario),
      graph_(graph),
      run_(run),
      latest_begin_(latest_begin(scenario, graph)),
      collectives_(simulated, scenario.cluster, graph),
      exchanges_(simulated, scenario.cluster, graph),
      servers_(simulated, scenario.cluster, graph),
      pairs_(simulated, scenario, graph, run) {}

struct Executor::Kinds {
  Executor& self;
  Track& track;
  TaskId task;
  int step;

  double operator()(const ComputeWork& work) const {
    return self.compute(work.duration, track.participant->index, task, step);
  }
  double operator()(const ServeWork& work) const {
    const double start = now();
    sleep(work.time[track.participant->index].si());
    return start;
  }
  double operator()(const NegotiationWork& work) const {
    const double start = now();
    sleep(work.time.si());
    return start;
  }
  double operator()(const CollectiveWork& work) const { return self.collectives_.execute(work, track, task); }
  double operator()(const ShardWork& work) const { return self.exchanges_.execute(work, track, task); }
  double operator()(const NeighbourWork& work) const { return self.exchanges_.execute(work, track, task); }
  double operator()(const PairWork& work) const { return self.pairs_.execute(work, track, step); }
  double operator()(const ShardTransfer& work) const { return self.servers_.execute(work, track); }
  double operator()(const ShardServe& work) const { return self.servers_.execute(work, track, task); }
  double operator()(const ShardCopy& work) const { return self.servers_.execute(work, track); }
};

double Executor::execute(TaskId task, Track& track, int step) {
  return std::visit(Kinds{*this, track, task, step}, graph_.tasks[task].work);
}

double Executor::compute(Seconds duration, int worker, TaskId task, int step) const {
  const double start = now();
  if (duration > Seconds{})
    simgrid::s4u::this_actor::execute(duration.si() * jitter(worker, task, step) * simulated_.work_per_second());
  return start;
}

double Executor::first_begin(int worker) const {
  if (latest_begin_ == Seconds{}) return 0.0;
  const int together = workers_that_begin_together(scenario_);
  return latest_begin_.si() * begin_by_chance(scenario_.evaluation.seed, run_, worker / together);
}

/// The mean jitter factor of the micro-batches that a task belongs to.
double Executor::jitter(int worker, TaskId id, int step) const {
  const Jitter& jitter = scenario_.cluster.jitter;
  if (jitter.cv == 0) return 1.0;
  const Task& task = graph_.tasks[id];
  const std::int64_t latest = std::int64_t{step} * graph_.draws() + task.micro_batch;
  double sum = 0;
  for (int i = 0; i < task.micro_batches; ++i)
    sum += jitter_factor(jitter, scenario_.evaluation.seed, run_, worker, latest - i);
  return sum / task.micro_batches;
}

}  // namespace stepcast
