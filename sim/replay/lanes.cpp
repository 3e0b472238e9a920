#include "sim/replay/lanes.hpp"

#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "sim/replay/actor.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

class Lanes {
 public:
  Lanes(std::vector<Participant>& participants, const StepGraph& graph, Performer& performer, Progress& progress,
        Recorder& recorder)
      : participants_(participants),
        graph_(graph),
        performer_(performer),
        progress_(progress),
        recorder_(recorder),
        incoming_(graph.tasks.size()) {
    for (const Dependency& d : graph.dependencies) incoming_[static_cast<std::size_t>(d.after)].push_back(d);
  }

  void run(s4u::Engine& engine) {
    std::size_t lanes = 0;
    for (Participant& participant : participants_)
      for (Lane& lane : participant.lanes) {
        sg::add_actor(engine, "lane", participant.host, [this, &lane] { act(lane); });
        ++lanes;
      }
    engine.run();
    if (failure_) std::rethrow_exception(failure_);
    if (progress_.ran_away())
      throw ModelError(fmt::format(
          "an asynchronous worker does more than {} steps while the slowest does one: such a scenario has no step time",
          Progress::kMostAhead));
    if (ended_ < lanes)
      throw std::logic_error(
          fmt::format("the replay came to a stop with {} of {} streams still waiting", lanes - ended_, lanes));
  }

 private:
  void act(Lane& lane) {
    try {
      live(lane);
      ++ended_;
    } catch (const std::exception&) {  // may not leave an actor
      failure_ = std::current_exception();
      s4u::Actor::kill_all();
    }
  }

  void live(Lane& lane) {
    Participant& self = *lane.participant;
    for (int step = 0; progress_.begin(self.number, step); ++step)
      for (const TaskId task : lane.tasks) {
        await_dependencies(lane, task, step);
        if (&lane == &self.lanes.front() && task == lane.tasks.front()) await_slowest(lane, step);
        const double start = performer_.perform(task, lane, step);
        recorder_.add(self, task, step, start, now());
        finish(lane, task, step);
      }
    wake_waiting_for_slowest();  // where the replay stops because this one ran away
  }

  void await_dependencies(Lane& lane, TaskId task, int step) {
    const Participant& self = *lane.participant;
    for (const Dependency& d : incoming_[static_cast<std::size_t>(task)]) {
      if (step < d.lag || (d.until && step >= *d.until)) continue;
      const auto before = static_cast<std::size_t>(d.before);
      if (stream_of(graph_.tasks[before], self.role) == kNoStream) continue;  // another role's task
      while (self.done[before] < step - d.lag + 1) lane.wait(d.before);
    }
  }

  void await_slowest(Lane& lane, int step) {
    while (progress_.is_too_far_ahead(step)) {
      waiting_for_slowest_.push_back(&lane);
      lane.wait();
    }
  }

  void finish(Lane& lane, TaskId task, int step) {
    Participant& self = *lane.participant;
    ++self.done[static_cast<std::size_t>(task)];
    for (Lane& other : self.lanes)
      if (other.awaited == task) other.notify();
    if (task == lane.tasks.back()) progress_.end_lane(lane.number, step, now());
    if (progress_.end_task(self.number, step, now())) wake_waiting_for_slowest();
  }

  void wake_waiting_for_slowest() {
    for (Lane* lane : std::exchange(waiting_for_slowest_, {})) lane->notify();
  }

  std::vector<Participant>& participants_;
  const StepGraph& graph_;
  Performer& performer_;
  Progress& progress_;
  Recorder& recorder_;
  std::vector<std::vector<Dependency>> incoming_;  ///< by task
  std::vector<Lane*> waiting_for_slowest_;
  std::size_t ended_ = 0;       ///< lanes
  std::exception_ptr failure_;  ///< of some lane
};

}  // namespace

void run_lanes(s4u::Engine& engine, std::vector<Participant>& participants, const StepGraph& graph,
               Performer& performer, Progress& progress, Recorder& recorder) {
  Lanes(participants, graph, performer, progress, recorder).run(engine);
}

}  // namespace stepcast
