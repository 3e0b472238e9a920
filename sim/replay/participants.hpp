// Who takes part in a replay: participants, and their tracks, each an actor.
#pragma once

#include <cstddef>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"
#include "sim/replay/simulated_cluster.hpp"

namespace stepcast {

inline double now() { return simgrid::s4u::Engine::get_clock(); }

inline void sleep(double seconds) {
  if (seconds > 0) simgrid::s4u::this_actor::sleep_for(seconds);
}

/// One stream of one participant: an actor, which sleeps while it waits for others.
struct Track {
  struct Participant* participant = nullptr;
  std::size_t number = 0;     ///< among the tracks of all participants
  std::vector<TaskId> tasks;  ///< of a step, in order
  simgrid::s4u::SemaphorePtr wake = simgrid::s4u::Semaphore::create(0);
  bool waiting = false;
  TaskId awaited = kNoTask;  ///< of its participant's, while it waits for one

  /// Returns when notified, for whatever reason: what is waited for has to be looked at again.
  void wait(TaskId task = kNoTask) {
    waiting = true;
    awaited = task;
    wake->acquire();
  }
  void notify() {
    if (!waiting) return;
    waiting = false;
    wake->release();
  }
};

/// A worker or a parameter-server shard, or one of a class that acts for all of it.
struct Participant {
  simgrid::s4u::Host* host = nullptr;
  Role role = Role::worker;
  int index = 0;              ///< rank of the worker, number of the shard
  std::size_t number = 0;     ///< in the simulation
  std::vector<Track> tracks;  ///< of its role's streams, those that have tasks
  std::vector<int> done;      ///< by task: steps it has been finished in
};

/// The stream that a participant runs the task on; kNoStream for another role's.
inline StreamId stream_of(const Task& task, Role role) {
  return role == Role::worker ? task.worker_stream : task.server_stream;
}

/// Those in the simulation, with their tracks, none of which has done anything yet. Tracks know where their participant is, so
/// nothing may be added.
std::vector<Participant> participants_on(const SimulatedCluster& simulated, const StepGraph& graph);

/// Tracks of a full replay at most: each stream of each worker and shard, but of shards that serve their workers'
/// streams.
std::size_t most_lanes(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
