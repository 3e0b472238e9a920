// Replays a step graph on a simulated cluster.
//
// Every stream of every worker and parameter-server shard is a SimGrid actor. It runs its tasks in order, step after
// step, and waits for dependencies on its own participant (replay.cpp). Compute tasks are executions on the worker's
// host, so concurrent streams share the GPU.
//
// A collective starts when all workers have reached it. It proceeds round by round, and every message is a flow. A
// direct message starts when its sender reaches it (executor.hpp).
//
// The replay ends when the steady state is proven (step_progress.hpp), or after max_steps. The step time follows from
// the ends of steps (replay_log.hpp).
//
// The scenario's fidelity chooses a full or folded replay (simulated_cluster.hpp). With jitter, a folded one simulates
// each collective once, and the workers' arrivals without an engine (arrivals.hpp). A full replay holds one round's
// messages. Each stream of each worker has an actor with a stack of 256 KiB, which touches a few pages of it. A folded
// replay holds the same for each class of workers, and the flow classes.
//
// Times of tasks are kept for every step until the end, for one worker of each kind. With jitter or asynchronous
// servers, they are kept for every worker.
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
  int participant = 0;  ///< rank of the worker or number of the shard; in a folded replay, the first of its class
  TaskId id = 0;
  StreamId stream_id = 0;
  std::string_view stream;
  TaskName task;
  Phase phase = Phase::forward;
  int step = 0;
  double start = 0.0, end = 0.0;  ///< seconds; without the time before, spent waiting for others
};
using TaskObserver = std::function<void(const TaskEvent&)>;

/// The bytes that crossed a link between two readings of the meter (link_meter.hpp).
struct LinkUse {
  std::string_view link;   ///< its name in SimGrid's platform
  double bandwidth = 0.0;  ///< of the link, in bytes per second
  double bytes = 0.0;
  double start = 0.0, end = 0.0;  ///< seconds
};
using LinkObserver = std::function<void(const LinkUse&)>;

/// Runs the simulation in this process. Call it once in a separate process (sim/replay/processes.hpp), because SimGrid
/// allows one Engine per process.
/// @param run  number of the run, for the random numbers of jitter
/// @param observer  called for every task as it ends, in order of time; keeps nothing
/// @param links  called for every link that a message crosses, in order of time; in a full replay only, since a folded
///   one has no links with a name of their own
/// @throws ModelError when the platform cannot be built
ReplayResult replay(const Scenario& scenario, const StepGraph& graph, int run, const TaskObserver& observer = {},
                    const LinkObserver& links = {});

}  // namespace stepcast
