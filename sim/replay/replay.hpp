// Replays a step graph on a simulated cluster.
//
// Every stream of every worker (and parameter-server shard) is a SimGrid actor that runs its tasks in order,
// step after step, waiting for the dependencies on its own participant (replay.cpp). Compute tasks are executions on
// the worker's host, so streams that compute at the same time share the GPU. A collective starts when all workers
// have reached it and proceeds round by round, every message a flow; direct messages start when their sender
// reaches them (executor.hpp). The replay ends when the steady state is proven (step_progress.hpp), or
// after max_steps; the step time follows from when steps ended (replay_log.hpp).
//
// Full or folded (simulated_cluster.hpp) as the scenario's fidelity says. What is held at a time is bounded: of a full replay one
// round's messages and, for each stream of each worker, an actor with a stack of 256 KiB of which a few pages are
// touched; of a folded one the same for each class of workers, and the flow classes. When tasks ran is kept of every
// step until the end, of one worker of each kind, or of each worker with jitter or asynchronous servers.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "models/forecast/forecast.hpp"
#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

struct ReplayResult {
  StepForecast forecast;
  std::vector<double> samples;  ///< without a period: times of every worker's own steps, in seconds
};

/// One task of one participant, when it has ended.
struct TaskEvent {
  Role role = Role::worker;
  int participant = 0;  ///< rank of the worker or number of the shard; folded: of the one that stands for its class
  std::string_view stream, task;
  Phase phase = Phase::forward;
  int step = 0;
  double start = 0.0, end = 0.0;  ///< seconds; waiting for others before the work itself is left out
};
using TaskObserver = std::function<void(const TaskEvent&)>;

/// Runs the simulation in this process. SimGrid allows one Engine per process: call it once in a process of its
/// own (sim/replay/processes.hpp).
/// @param run  number of the run, for the random numbers of jitter
/// @param observer  told of every task as it ends, in order of time; nothing is kept
/// @throws ModelError when the platform cannot be built
ReplayResult replay(const Scenario& scenario, const StepGraph& graph, int run, const TaskObserver& observer = {});

}  // namespace stepcast
