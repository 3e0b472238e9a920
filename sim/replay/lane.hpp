// Who takes part in a replay: participants, and their streams, each an actor.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "models/forecast/breakdown.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/platform/compat.hpp"

namespace stepcast {

/// A worker or a parameter-server shard, or one of a class that acts for all of it.
struct Participant {
  simgrid::s4u::Host* host = nullptr;
  Role role = Role::worker;
  int index = 0;                                ///< rank of the worker, number of the shard
  std::size_t number = 0;                       ///< on the scene
  std::vector<int> done;                        ///< by task: steps it has been finished in
  int tasks = 0;                                ///< tasks of a step that it takes part in
  int started = -1;                             ///< latest step that one of its streams has begun
  int limit = std::numeric_limits<int>::max();  ///< first step it does not begin
  std::vector<struct Lane*> lanes;
  std::vector<int> finished;                               ///< by step: tasks finished
  std::vector<double> step_ends;                           ///< by step
  std::deque<std::pair<int, Interval>>* record = nullptr;  ///< {step, interval}, for those whose timeline is kept
};

/// One stream of one participant: an actor.
struct Lane {
  Participant* participant = nullptr;
  std::vector<TaskId> tasks;
  simgrid::s4u::SemaphorePtr wake = simgrid::s4u::Semaphore::create(0);
  bool waiting = false;
  TaskId awaited = kNoTask;  ///< of its participant's, while it waits for one
  std::size_t number = 0;

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

}  // namespace stepcast
