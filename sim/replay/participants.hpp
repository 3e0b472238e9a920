// The participants of a replay and their tracks; each track is an actor.
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

/// One stream of one participant. Its actor sleeps while it waits for others.
struct Track {
  struct Participant* participant = nullptr;
  std::size_t number = 0;     ///< among the tracks of all participants
  std::vector<TaskId> tasks;  ///< tasks of a step, in order
  simgrid::s4u::SemaphorePtr wake = simgrid::s4u::Semaphore::create(0);
  bool waiting = false;
  TaskId awaited = kNoTask;  ///< the task of its participant that it waits for

  /// Returns when notified for any reason. The caller checks the awaited condition again.
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

/// A worker or a parameter-server shard. In a folded replay, it acts for its whole class.
struct Participant {
  simgrid::s4u::Host* host = nullptr;
  Role role = Role::worker;
  int index = 0;              ///< rank of the worker, number of the shard
  std::size_t number = 0;     ///< in the simulation
  std::vector<Track> tracks;  ///< streams of its role that have tasks
  std::vector<int> done;      ///< by task: number of steps in which the task has ended
};

/// The stream on which a participant runs the task; kNoStream for the task of another role.
inline StreamId stream_of(const Task& task, Role role) {
  return role == Role::worker ? task.worker_stream : task.server_stream;
}

/// The simulated participants, with tracks that have done nothing yet. Tracks point to their participant, so no
/// participant may be added.
std::vector<Participant> participants_on(const SimulatedCluster& simulated, const StepGraph& graph);

/// An upper bound on the tracks of a full replay: each stream of each worker and shard. A shard that serves its
/// workers' streams adds none.
std::size_t most_lanes(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
