#include "sim/replay/tracks.hpp"

#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "sim/replay/actor.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

class Tracks {
 public:
  Tracks(std::vector<Participant>& participants, const StepGraph& graph, Executor& executor, Progress& progress,
         Recorder& recorder)
      : participants_(participants),
        graph_(graph),
        executor_(executor),
        progress_(progress),
        recorder_(recorder),
        incoming_(graph.tasks.size()) {
    for (const Dependency& d : graph.dependencies) incoming_[d.after].push_back(d);
  }

  void run(s4u::Engine& engine) {
    std::size_t tracks = 0;
    for (Participant& participant : participants_)
      for (Track& track : participant.tracks) {
        sg::add_actor(engine, "track", participant.host, [this, &track] { act(track); });
        ++tracks;
      }
    engine.run();
    if (failure_) std::rethrow_exception(failure_);
    if (progress_.ran_away())
      throw ModelError(fmt::format(
          "an asynchronous worker does more than {} steps while the slowest does one: such a scenario has no step time",
          Progress::kMostAhead));
    if (ended_ < tracks)
      throw std::logic_error(
          fmt::format("the replay came to a stop with {} of {} streams still waiting", tracks - ended_, tracks));
  }

 private:
  void act(Track& track) {
    try {
      live(track);
      ++ended_;
    } catch (const std::exception&) {  // an exception may not leave an actor
      failure_ = std::current_exception();
      s4u::Actor::kill_all();
    }
  }

  void live(Track& track) {
    Participant& self = *track.participant;
    for (int step = 0; progress_.begin(self.number, step); ++step)
      for (const TaskId task : track.tasks) {
        await_dependencies(track, task, step);
        if (&track == &self.tracks.front() && task == track.tasks.front()) await_slowest(track, step);
        const double start = executor_.execute(task, track, step);
        recorder_.add(self, task, step, start, now());
        finish(track, task, step);
      }
    wake_waiting_for_slowest();  // needed if the replay stops because this worker ran away
  }

  void await_dependencies(Track& track, TaskId task, int step) {
    const Participant& self = *track.participant;
    for (const Dependency& d : incoming_[task]) {
      if (step < d.lag || (d.until && step >= *d.until)) continue;
      const auto before = static_cast<std::size_t>(d.before);
      if (stream_of(graph_.tasks[before], self.role) == kNoStream) continue;  // another role's task
      while (self.done[before] < step - d.lag + 1) track.wait(d.before);
    }
  }

  void await_slowest(Track& track, int step) {
    while (progress_.is_too_far_ahead(step)) {
      waiting_for_slowest_.push_back(&track);
      track.wait();
    }
  }

  void finish(Track& track, TaskId task, int step) {
    Participant& self = *track.participant;
    ++self.done[task];
    for (Track& other : self.tracks)
      if (other.awaited == task) other.notify();
    if (task == track.tasks.back()) progress_.end_track(track.number, step, now());
    if (progress_.end_task(self.number, step, now())) wake_waiting_for_slowest();
  }

  void wake_waiting_for_slowest() {
    for (Track* track : std::exchange(waiting_for_slowest_, {})) track->notify();
  }

  std::vector<Participant>& participants_;
  const StepGraph& graph_;
  Executor& executor_;
  Progress& progress_;
  Recorder& recorder_;
  std::vector<std::vector<Dependency>> incoming_;  ///< dependencies by task
  std::vector<Track*> waiting_for_slowest_;
  std::size_t ended_ = 0;       ///< number of ended tracks
  std::exception_ptr failure_;  ///< the first exception of a track
};

}  // namespace

void run_tracks(s4u::Engine& engine, std::vector<Participant>& participants, const StepGraph& graph, Executor& executor,
                Progress& progress, Recorder& recorder) {
  Tracks(participants, graph, executor, progress, recorder).run(engine);
}

}  // namespace stepcast
