#include "sim/replay/replay.hpp"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/part/worker_kinds.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/arrivals.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/executor.hpp"
#include "sim/replay/folding.hpp"
#include "sim/replay/link_meter.hpp"
#include "sim/replay/participants.hpp"
#include "sim/replay/recorder.hpp"
#include "sim/replay/replay_log.hpp"
#include "sim/replay/simulated_cluster.hpp"
#include "sim/replay/step_progress.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

/// Runs all tracks. A track is an actor that runs the tasks of its stream in order, step after step. Each task waits
/// for its dependencies on the same participant. A worker with bounded staleness waits for the slowest before it begins
/// a step. The executor does the tasks, and the progress decides when to stop.
class Tracks {
 public:
  Tracks(const SimulatedCluster& simulated, std::vector<Participant>& participants, const StepGraph& graph,
         Executor& executor, StepProgress& progress, Recorder& recorder)
      : participants_(participants),
        graph_(graph),
        executor_(executor),
        progress_(progress),
        recorder_(recorder),
        incoming_(graph.tasks.size()) {
    for (const Dependency& d : graph.dependencies)
      if (simulated.includes(graph.tasks[d.before])) incoming_[d.after].push_back(d);
  }

  /// @throws ModelError when a worker runs away, or a message is too large to be counted
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
          StepProgress::kMostAhead));
    if (ended_ < tracks && !progress_.is_over())
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
        if (&track == &self.tracks.front() && task == track.tasks.front()) {
          if (step == 0) sleep(executor_.first_begin(self.index));
          await_slowest(track, step);
        }
        progress_.begin_task(step, now());
        const double start = executor_.execute(task, track, step);
        recorder_.add(self, task, step, start, now());
        finish(track, task, step);
        if (progress_.is_over()) return s4u::Actor::kill_all();
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
    if (graph_.first_pushes && progress_.end_updates(executor_.servers().update_ends().size()))
      executor_.servers().stop_updates();
  }

  void wake_waiting_for_slowest() {
    for (Track* track : std::exchange(waiting_for_slowest_, {})) track->notify();
  }

  std::vector<Participant>& participants_;
  const StepGraph& graph_;
  Executor& executor_;
  StepProgress& progress_;
  Recorder& recorder_;
  std::vector<std::vector<Dependency>> incoming_;  ///< dependencies by task
  std::vector<Track*> waiting_for_slowest_;
  std::size_t ended_ = 0;       ///< number of ended tracks
  std::exception_ptr failure_;  ///< the first exception of a track
};

std::unique_ptr<SimulatedCluster> make_cluster(simgrid::s4u::Engine& engine, const Cluster& cluster,
                                               const StepGraph& graph, FidelityDecision& fidelity) {
  if (!fidelity.folds) return make_full_cluster(engine, cluster, graph);
  return make_folded_cluster(engine, cluster, graph, fidelity.fold ? std::move(*fidelity.fold) : fold(cluster, graph));
}

std::string describe(const FidelityDecision& fidelity, const SimulatedCluster& simulated) {
  if (fidelity.folds) return fmt::format("folded: {}", simulated.summary());
  return fidelity.why_full.empty() ? "full" : fmt::format("full: {}", fidelity.why_full);
}

StepProgress begin_progress(const std::vector<Participant>& participants, const Scenario& scenario,
                            const StepGraph& graph, bool is_watched) {
  std::vector<int> tasks;
  std::size_t tracks = 0;
  for (const Participant& participant : participants) {
    tasks.push_back(0);
    for (const Track& track : participant.tracks) tasks.back() += static_cast<int>(track.tasks.size());
    tracks += participant.tracks.size();
  }
  ProgressRules rules = progress_rules(scenario, graph);
  rules.one_may_do = !is_watched;
  return StepProgress(rules, tasks, tracks);
}

ReplayLog log_of(const std::vector<Participant>& participants, const std::vector<WorkerKind>& kinds,
                 const StepProgress& progress, const std::vector<double>& pass_ends, Recorder& recorder) {
  const auto each_timeline = [timelines = recorder.take_timelines()](const ReplayLog::TimelineVisitor& f) {
    for (const Timeline& timeline : timelines) f(timeline);
  };
  ReplayLog log{kinds, each_timeline, pass_ends, {}, progress.period(), progress.last()};
  for (const Participant& participant : participants)
    if (participant.role == Role::worker) log.worker_pass_ends.push_back(progress.step_ends(participant.number));
  return log;
}

/// By task: how long its collective takes when all have come.
std::vector<double> collective_times(s4u::Engine& engine, SimulatedCluster& simulated, const Cluster& cluster,
                                     const StepGraph& graph) {
  std::vector<double> times(graph.tasks.size());
  CollectiveRounds collectives(simulated, cluster, graph);
  std::exception_ptr failure;
  sg::add_actor(engine, "collectives", simulated.participants().front().host, [&] {
    try {
      for (std::size_t t = 0; t < times.size(); ++t)
        if (const auto* collective = std::get_if<CollectiveWork>(&graph.tasks[t].work)) {
          const double start = now();
          collectives.run(collective->call);
          times[t] = now() - start;
        }
    } catch (const std::exception&) {  // an exception may not leave an actor
      failure = std::current_exception();
    }
  });
  engine.run();
  if (failure) std::rethrow_exception(failure);
  return times;
}

}  // namespace

ReplayResult replay(const Scenario& scenario, const StepGraph& graph, int run, const TaskObserver& observer,
                    const LinkObserver& links) {
  const Cluster& cluster = scenario.cluster;
  FidelityDecision fidelity = decide_fidelity(scenario, graph);
  // A folded replay has few actors, but asynchronous workers each have their own.
  simgrid::s4u::Engine engine = start_engine(fidelity.folds && !graph.asynchronous ? 0 : most_lanes(scenario, graph));
  configure_network(cluster.transport);
  const std::unique_ptr<SimulatedCluster> simulated = make_cluster(engine, cluster, graph, fidelity);
  if (fidelity.folds && are_arrivals(scenario, graph)) {
    const std::vector<double> times = collective_times(engine, *simulated, cluster, graph);
    ReplayResult result = result_of(replay_arrivals(scenario, graph, times, run, observer), scenario, graph);
    result.forecast.fidelity = fmt::format("{}; each worker computes by its own draws", describe(fidelity, *simulated));
    return result;
  }
  LinkMeter meter(links);
  if (links && !fidelity.folds) simulated->meter = &meter;

  std::vector<Participant> participants = participants_on(*simulated, graph);
  const std::vector<WorkerKind> kinds = worker_kinds(cluster);
  Executor executor(*simulated, scenario, graph, run);
  StepProgress progress = begin_progress(participants, scenario, graph, observer || links);
  Recorder recorder(empty_timelines(*simulated, cluster, graph, kinds), participants, graph, observer);
  Tracks(*simulated, participants, graph, executor, progress, recorder).run(engine);

  const std::vector<double>& pass_ends = graph.first_pushes ? executor.servers().update_ends() : progress.step_ends();
  ReplayResult result = result_of(log_of(participants, kinds, progress, pass_ends, recorder), scenario, graph);
  result.forecast.fidelity = describe(fidelity, *simulated);
  return result;
}

}  // namespace stepcast
