#include "sim/replay/replay.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/part/fault.hpp"
#include "sim/platform/platform.hpp"
#include "sim/replay/actor.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/fidelity.hpp"
#include "sim/replay/lane.hpp"
#include "sim/replay/performer.hpp"
#include "sim/replay/recorded_workers.hpp"
#include "sim/replay/replay_log.hpp"
#include "sim/replay/scene.hpp"
#include "sim/replay/steady_state.hpp"

namespace stepcast {
namespace {

namespace s4u = simgrid::s4u;

class Replay {
 public:
  Replay(s4u::Engine& engine, Scene& scene, const Scenario& scenario, const StepGraph& graph, int run,
         const TaskObserver& observer)
      : engine_(engine),
        scene_(scene),
        scenario_(scenario),
        cluster_(scenario.cluster),
        graph_(graph),
        observer_(observer),
        performer_(scene, scenario, graph, run),
        incoming_(graph.tasks.size()),
        steady_(longest_lag(graph)) {
    for (const Dependency& d : graph.dependencies) incoming_[static_cast<std::size_t>(d.after)].push_back(d);
    log_.kinds = worker_kinds(cluster_);
    add_participants();
  }

  ReplayResult run() {
    for (auto& lane : lanes_)
      sg::add_actor(engine_, "lane", lane->participant->host, [this, l = lane.get()] {
        try {
          live(*l);
        } catch (const std::exception&) {  // may not leave an actor
          failure_ = std::current_exception();
          s4u::Actor::kill_all();
        }
      });
    lanes_alive_ = lanes_.size();
    engine_.run();
    if (failure_) std::rethrow_exception(failure_);
    if (ran_away_)
      throw ModelError(
          "an asynchronous worker does more than 1000 steps while the slowest does one: such a scenario has no step time");
    if (lanes_alive_ > 0)
      throw std::logic_error(
          fmt::format("the replay came to a stop with {} of {} streams still waiting", lanes_alive_, lanes_.size()));
    log_.proven = first_kept_ - 1;  // later passes only let others end
    for (Participant& worker : participants_)
      if (worker.role == Role::worker) log_.worker_pass_ends.push_back(std::move(worker.step_ends));
    return result_of(log_, scenario_, graph_);
  }

 private:
  // ---- set-up

  static int longest_lag(const StepGraph& graph) {
    int lag = 1;
    for (const Dependency& d : graph.dependencies) lag = std::max(lag, d.lag);
    return lag;
  }

  [[nodiscard]] bool random() const { return cluster_.jitter.cv > 0; }
  [[nodiscard]] StreamId stream_of(const Task& task, Role role) const {
    return role == Role::worker ? task.worker_stream : task.server_stream;
  }

  void add_participants() {
    participants_.resize(scene_.participants().size());
    for (std::size_t i = 0; i < participants_.size(); ++i) {
      Participant& participant = participants_[i];
      const Scene::Participant& seen = scene_.participants()[i];
      participant.role = seen.role;
      participant.index = seen.index;
      participant.number = i;
      participant.host = seen.host;
      participant.done.assign(graph_.tasks.size(), 0);
      for (std::size_t s = 0; s < graph_.streams.size(); ++s) {
        if (graph_.streams[s].role != participant.role) continue;
        auto lane = std::make_unique<Lane>();
        for (std::size_t t = 0; t < graph_.tasks.size(); ++t)
          if (stream_of(graph_.tasks[t], participant.role) == static_cast<StreamId>(s))
            lane->tasks.push_back(static_cast<TaskId>(t));
        if (lane->tasks.empty()) continue;
        lane->participant = &participant;
        lane->number = lanes_.size();
        participant.tasks += static_cast<int>(lane->tasks.size());
        participant.lanes.push_back(lane.get());
        lanes_.push_back(std::move(lane));
      }
      tasks_ += participant.tasks;
    }
    choose_records();
  }

  void choose_records() {
    for (RecordedWorker& one : recorded_workers(scene_, cluster_, graph_, log_.kinds)) {
      log_.timelines.push_back({one.weight, std::move(one.of_kind), {}});
      participants_[one.worker].record = &log_.timelines.back().intervals;
    }
  }

  // ---- life of a lane

  void live(Lane& lane) {
    Participant& self = *lane.participant;
    for (int step = 0; step < self.limit; ++step) {
      if (runs_away(step)) break;
      self.started = std::max(self.started, step);
      started_ = std::max(started_, step);
      for (const TaskId id : lane.tasks) {
        await_dependencies(lane, id, step);
        execute(lane, id, step);
        finish(lane, id, step);
      }
    }
    --lanes_alive_;
  }

  /// An asynchronous worker that does thousands of steps for one of the slowest worker's (because its steps take
  /// no time, say) would keep the replay going for ever.
  bool runs_away(int step) {
    constexpr int kMostAhead = 1000;
    if (!graph_.asynchronous || stopping_ || step <= kMostAhead * (slowest_ + 1)) return false;
    ran_away_ = true;
    stop();
    return true;
  }

  void await_dependencies(Lane& lane, TaskId id, int step) {
    const Participant& self = *lane.participant;
    for (const Dependency& d : incoming_[static_cast<std::size_t>(id)]) {
      if (step < d.lag || (d.until && step >= *d.until)) continue;
      const auto before = static_cast<std::size_t>(d.before);
      if (stream_of(graph_.tasks[before], self.role) == kNoStream) continue;  // another role's task
      while (self.done[before] < step - d.lag + 1) lane.wait(d.before);
    }
    const bool begins_step = &lane == self.lanes.front() && id == lane.tasks.front();
    if (graph_.staleness && begins_step)
      while (!stopping_ && step - slowest_ > *graph_.staleness) {
        gated_.push_back(&lane);
        lane.wait();
      }
  }

  void finish(Lane& lane, TaskId id, int step) {
    Participant& self = *lane.participant;
    if (id == lane.tasks.back()) end_of_lane(lane, step);
    ++self.done[static_cast<std::size_t>(id)];
    for (Lane* other : self.lanes)
      if (other->awaited == id) other->notify();
    const auto s = static_cast<std::size_t>(step);
    if (finished_.size() <= s) finished_.resize(s + 1, 0);
    if (self.finished.size() <= s) self.finished.resize(s + 1, 0);
    if (++self.finished[s] == self.tasks) self.step_ends.push_back(now());
    if (++finished_[s] == tasks_) end_of_step(step);
  }

  void end_of_lane(const Lane& lane, int step) {
    const auto offset = static_cast<std::size_t>(step - first_kept_);
    while (ends_.size() <= offset) ends_.emplace_back(lanes_.size(), 0.0);
    ends_[offset][lane.number] = now();
  }

  /// Every participant has finished `step`.
  void end_of_step(int step) {
    log_.pass_ends.push_back(now());
    slowest_ = step + 1;
    for (Lane* lane : std::exchange(gated_, {})) lane->notify();
    if (stopping_) return;

    std::vector<double> ends = std::move(ends_.front());
    ends_.pop_front();
    ++first_kept_;
    if (!random() && !graph_.asynchronous && step >= warmup_passes(scenario_))
      log_.period = steady_.add(std::move(ends));
    if (log_.period || step + 1 >= scenario_.evaluation.max_steps) stop();
  }

  /// Lets every step end that has begun anywhere, since collectives need all workers.
  void stop() {
    stopping_ = true;
    for (Participant& participant : participants_)
      participant.limit = (graph_.asynchronous ? participant.started : started_) + 1;
    for (Lane* lane : std::exchange(gated_, {})) lane->notify();
  }

  /// What follows in the same phase of the same step makes one interval, as the backward passes of many tensors do.
  void record(Participant& self, TaskId id, int step, double start) {
    if (!self.record || now() <= start) return;
    const Phase phase = graph_.tasks[static_cast<std::size_t>(id)].phase;
    if (!self.record->empty())
      if (auto& [of_step, latest] = self.record->back();
          of_step == step && latest.phase == phase && latest.end == start) {
        latest.end = now();
        return;
      }
    self.record->push_back({step, {phase, start, now()}});
  }

  void observe(const Participant& self, TaskId id, int step, double start) const {
    const Task& task = graph_.tasks[static_cast<std::size_t>(id)];
    const StreamId stream = stream_of(task, self.role);
    observer_({self.role, self.index, graph_.streams[static_cast<std::size_t>(stream)].name, task.name, task.phase,
               step, start, now()});
  }

  void execute(Lane& lane, TaskId id, int step) {
    const double start = performer_.perform(id, lane, step);
    record(*lane.participant, id, step, start);
    if (observer_) observe(*lane.participant, id, step, start);
  }

  s4u::Engine& engine_;
  Scene& scene_;
  const Scenario& scenario_;
  const Cluster& cluster_;
  const StepGraph& graph_;
  const TaskObserver& observer_;
  Performer performer_;
  std::vector<std::vector<Dependency>> incoming_;  ///< by task
  std::vector<Participant> participants_;          ///< workers, then shards
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t lanes_alive_ = 0;
  SteadyState steady_;
  long tasks_ = 0;  ///< of a step, over all participants
  int started_ = -1;
  int slowest_ = 0;  ///< steps that every participant has finished
  bool stopping_ = false;
  bool ran_away_ = false;
  std::exception_ptr failure_;  ///< a ModelError of some stream
  std::vector<Lane*> gated_;
  std::vector<long> finished_;  ///< by step: tasks finished, over all participants
  ReplayLog log_;
  std::deque<std::vector<double>> ends_;  ///< by step from first_kept_ on: end of every lane
  int first_kept_ = 0;
};

/// Actors of a full replay: each stream of each worker and shard, but of shards that serve their workers' streams.
std::size_t full_actors(const Scenario& scenario, const StepGraph& graph) {
  const auto streams = [&](Role role) {
    return static_cast<std::size_t>(
        std::count_if(graph.streams.begin(), graph.streams.end(), [&](const Stream& s) { return s.role == role; }));
  };
  return static_cast<std::size_t>(scenario.cluster.workers) * streams(Role::worker) +
         static_cast<std::size_t>(graph.shards) * streams(Role::server);
}

}  // namespace

ReplayResult replay(const Scenario& scenario, const StepGraph& graph, int run, const TaskObserver& observer) {
  FidelityDecision fidelity = decide_fidelity(scenario, graph);
  s4u::Engine engine = start_engine(fidelity.folds ? 0 : full_actors(scenario, graph));
  configure_network(scenario.cluster.transport);
  const auto scene = fidelity.folds
                         ? make_folded_scene(engine, scenario.cluster,
                                             fidelity.fold ? std::move(*fidelity.fold) : fold(scenario.cluster, graph))
                         : make_full_scene(engine, scenario.cluster, graph);
  ReplayResult result = Replay(engine, *scene, scenario, graph, run, observer).run();
  result.forecast.fidelity = fidelity.folds              ? fmt::format("folded: {}", scene->summary())
                             : fidelity.why_full.empty() ? "full"
                                                         : fmt::format("full: {}", fidelity.why_full);
  return result;
}

}  // namespace stepcast
