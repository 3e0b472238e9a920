#include "sim/replay/arrivals.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "models/part/worker_kinds.hpp"
#include "sim/replay/worker_clock.hpp"

namespace stepcast {
namespace {

class Arrivals {
 public:
  Arrivals(const Scenario& scenario, const StepGraph& graph, const std::vector<double>& times, int run)
      : scenario_(scenario),
        graph_(graph),
        run_(run),
        plan_(worker_plan(graph)),
        kinds_(worker_kinds(scenario.cluster)),
        last_(scenario.evaluation.max_steps - 1) {
    for (const auto& stream : plan_.streams) {
      for (const WorkerPlan::Item& item : stream)
        if (item.kind == WorkerPlan::Kind::meets) takes_.push_back(times[item.id]);
      last_tasks_.push_back(stream.back().id);
    }
  }

  /// Holds all collectives of all passes.
  void run() {
    std::vector<WorkerClock> clocks = all_clocks();
    passes_of_.resize(clocks.size());
    const auto run_all = [&] {
      double latest = 0.0;
      for (std::size_t w = 0; w < clocks.size(); ++w)
        latest = std::max(
            latest, clocks[w].run(held_, passes_, [&](std::size_t stream, TaskId task, int pass, double, double end) {
              ended(w, stream, task, pass, end);
            }));
      return latest;
    };
    while (passes_ == kNoLimit || held_.size() < static_cast<std::size_t>(passes_) * takes_.size()) {
      const double start = run_all();
      if (passes_ == kNoLimit && ended_last_ == clocks.size()) {
        passes_ = passes_begun();
        continue;
      }
      if (std::any_of(clocks.begin(), clocks.end(), [](const WorkerClock& clock) { return !clock.has_arrived(); }))
        throw std::logic_error("a worker comes to no further collective");
      held_.push_back({start, start + takes_[held_.size() % takes_.size()]});
    }
    run_all();
  }

  /// The times of one worker, as observed by sink(stream, task, pass, start, end).
  template <class Sink>
  void follow(const WorkerKind& kind, int worker, Sink&& sink) const {
    clock_of(kind, worker).run(held_, passes_, sink);
  }

  /// Tells an observer of every task as it ends, in order of time. Holds the tasks between two collectives.
  void observe(const TaskObserver& observer) const {
    std::vector<WorkerClock> clocks = all_clocks();
    std::vector<TaskEvent> events;
    std::vector<Meeting> so_far;
    for (;;) {
      double earliest = std::numeric_limits<double>::infinity();  // no clock has a task to come that ended before
      for (std::size_t w = 0; w < clocks.size(); ++w)
        earliest = std::min(
            earliest, clocks[w].run(so_far, passes_, [&](std::size_t, TaskId id, int pass, double start, double end) {
              events.push_back(event_of(static_cast<int>(w), id, pass, start, end));
            }));
      const bool is_last = so_far.size() == held_.size();
      std::stable_sort(events.begin(), events.end(),
                       [](const TaskEvent& a, const TaskEvent& b) { return a.end < b.end; });
      const auto rest = is_last ? events.end()
                                : std::find_if(events.begin(), events.end(),
                                               [&](const TaskEvent& event) { return event.end > earliest; });
      std::for_each(events.begin(), rest, observer);
      events.erase(events.begin(), rest);
      if (is_last) return;
      so_far.push_back(held_[so_far.size()]);
    }
  }

  [[nodiscard]] const std::vector<WorkerKind>& kinds() const { return kinds_; }
  [[nodiscard]] std::size_t streams() const { return plan_.streams.size(); }

  /// By worker and pass: the end.
  [[nodiscard]] std::vector<std::vector<double>> worker_pass_ends() const {
    std::vector<std::vector<double>> all;
    for (const Passes& passes : passes_of_) {
      all.push_back(passes.ends);
      all.back().resize(std::min(all.back().size(), static_cast<std::size_t>(passes_)));
    }
    return all;
  }

 private:
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  struct Passes {
    std::vector<double> ends;  ///< by pass
    std::size_t streams = 0;   ///< that have ended the last one
  };
  struct StreamEnd {
    double time;
    int pass;
  };

  [[nodiscard]] WorkerClock clock_of(const WorkerKind& kind, int worker) const {
    return {plan_, scenario_, worker, kind.speed, run_};
  }

  /// By rank: kinds are in order of rank.
  [[nodiscard]] std::vector<WorkerClock> all_clocks() const {
    std::vector<WorkerClock> clocks;
    for (const WorkerKind& kind : kinds_)
      for (int i = 0; i < kind.count; ++i) clocks.push_back(clock_of(kind, kind.first + i));
    return clocks;
  }

  [[nodiscard]] TaskEvent event_of(int worker, TaskId id, int pass, double start, double end) const {
    const Task& task = graph_.tasks[id];
    return {
        Role::worker, worker, id, task.worker_stream, graph_.streams[task.worker_stream].name, task.name, task.phase,
        pass,         start,  end};
  }

  /// A worker ends a pass with the last of its streams.
  void ended(std::size_t worker, std::size_t stream, TaskId task, int pass, double end) {
    if (task != last_tasks_[stream]) return;
    Passes& own = passes_of_[worker];
    const auto p = static_cast<std::size_t>(pass);
    if (own.ends.size() == p) own.ends.push_back(end);  // the first stream to end it
    else own.ends[p] = std::max(own.ends[p], end);
    if (pass >= last_ && passes_ == kNoLimit) stream_ends_.push_back({end, pass});
    if (pass != last_ || ++own.streams < plan_.streams.size()) return;
    ++ended_last_;
    end_ = std::max(end_, own.ends[p]);
  }

  /// A replay stops when all have ended the last pass. Passes that a stream has begun by then are still ended. Of
  /// several streams that end at once, the first begins its next pass, since the others still have to end.
  [[nodiscard]] int passes_begun() const {
    const auto at_once =
        std::count_if(stream_ends_.begin(), stream_ends_.end(), [&](const StreamEnd& one) { return one.time == end_; });
    int begun = last_;
    for (const StreamEnd& one : stream_ends_)
      if (one.time < end_ || (one.time == end_ && at_once > 1)) begun = std::max(begun, one.pass + 1);
    return begun + 1;
  }

  const Scenario& scenario_;
  const StepGraph& graph_;
  int run_;
  WorkerPlan plan_;
  std::vector<WorkerKind> kinds_;
  int last_;                        ///< the pass that stops the replay
  std::vector<TaskId> last_tasks_;  ///< by stream
  std::vector<double> takes_;       ///< the collectives of a pass, in order
  std::vector<Meeting> held_;
  int passes_ = kNoLimit;
  std::vector<Passes> passes_of_;  ///< by worker
  std::size_t ended_last_ = 0;     ///< workers that have ended the last pass
  double end_ = 0.0;               ///< when all had
  std::vector<StreamEnd> stream_ends_;
};

/// Calls f(kind number, kind, rank) for every worker.
template <class F>
void for_each_worker(const std::vector<WorkerKind>& kinds, F&& f) {
  for (std::size_t k = 0; k < kinds.size(); ++k)
    for (int i = 0; i < kinds[k].count; ++i) f(k, kinds[k], kinds[k].first + i);
}

}  // namespace

bool are_arrivals(const Scenario& scenario, const StepGraph& graph) {
  std::set<StreamId> streams;
  for (const Task& task : graph.tasks) {
    if (std::holds_alternative<CollectiveWork>(task.work)) streams.insert(task.worker_stream);
    else if (!std::holds_alternative<ComputeWork>(task.work) && !std::holds_alternative<NegotiationWork>(task.work))
      return false;
  }
  return scenario.cluster.jitter.cv > 0 && !graph.asynchronous && streams.size() == 1;
}

ReplayLog replay_arrivals(const Scenario& scenario, const StepGraph& graph, const std::vector<double>& times, int run,
                          const TaskObserver& observer) {
  const auto arrivals = std::make_shared<Arrivals>(scenario, graph, times, run);
  arrivals->run();
  if (observer) arrivals->observe(observer);
  ReplayLog log;
  log.kinds = arrivals->kinds();
  log.worker_pass_ends = arrivals->worker_pass_ends();
  log.pass_ends.assign(log.worker_pass_ends.front().size(), 0.0);
  for (const std::vector<double>& ends : log.worker_pass_ends)
    for (std::size_t pass = 0; pass < ends.size(); ++pass)
      log.pass_ends[pass] = std::max(log.pass_ends[pass], ends[pass]);
  log.each_timeline = [arrivals, &graph, workers = scenario.cluster.workers](const ReplayLog::TimelineVisitor& f) {
    std::vector<Timeline> of_streams(arrivals->streams());
    for_each_worker(arrivals->kinds(), [&](std::size_t k, const WorkerKind& kind, int rank) {
      arrivals->follow(kind, rank, [&](std::size_t stream, TaskId id, int pass, double start, double end) {
        const Task& task = graph.tasks[id];
        append({task.phase, start, end, task.stack_share}, pass, of_streams[stream]);
      });
      Timeline timeline{
          static_cast<std::size_t>(rank), 1.0 / workers, std::vector<double>(arrivals->kinds().size()), {}};
      timeline.of_kind[k] = 1.0 / kind.count;
      // One stream after the other: intervals that touch follow each other (forecast/breakdown.hpp).
      for (Timeline& one : of_streams) {
        timeline.intervals.insert(timeline.intervals.end(), one.intervals.begin(), one.intervals.end());
        one.intervals.clear();
      }
      f(timeline);
    });
  };
  return log;
}

}  // namespace stepcast
