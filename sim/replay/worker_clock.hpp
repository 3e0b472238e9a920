// One worker's part of a replay between collectives: its streams, and the GPU that they share.
//
// A worker meets others in collectives alone, so its own time needs no simulator. Its streams run their tasks in order,
// each after its dependencies, as in a replay with an actor for each (replay.hpp). Computations of several streams
// share the GPU in equal parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "sim/replay/jitter.hpp"

namespace stepcast {

/// The tasks of every worker in a pass of the step graph.
struct WorkerPlan {
  enum class Kind { computes, sleeps, meets };
  struct Item {
    TaskId id = 0;
    Kind kind = Kind::computes;
    double time = 0.0;                       ///< in seconds; 0 for a collective
    int micro_batch = 0, micro_batches = 1;  ///< as in Task
    std::vector<Dependency> waits_for;
  };
  std::vector<std::vector<Item>> streams;  ///< by stream with tasks: these, in order
  std::size_t tasks = 0;                   ///< of the graph
  int draws = 1;                           ///< of jitter, in a pass
};

WorkerPlan worker_plan(const StepGraph& graph);

/// A collective that was held.
struct Meeting {
  double start = 0.0;  ///< the last worker came
  double end = 0.0;
};

class WorkerClock {
 public:
  /// @param run  number of the run, for the random numbers of jitter
  /// @pre all outlive this
  WorkerClock(const WorkerPlan& plan, const Scenario& scenario, int worker, double speed, int run)
      : plan_(&plan),
        scenario_(&scenario),
        worker_(worker),
        run_(run),
        speed_(speed),
        streams_(plan.streams.size()),
        done_(plan.tasks, 0),
        factors_(static_cast<std::size_t>(plan.draws)) {}

  /// Runs until the worker comes to a collective that is not among `held`, or has ended this many passes.
  /// @param held  all collectives so far, in order; those of the last call come first
  /// @param sink  called as sink(stream, task, pass, start, end) for every task as it ends, in order of time
  /// @returns the time; at a collective, that of its arrival
  template <class Sink>
  double run(const std::vector<Meeting>& held, int passes, Sink&& sink) {
    for (;;) {
      begin_tasks(held, passes, sink);
      const double next = next_event();
      if (arrived_ || next == std::numeric_limits<double>::infinity()) return now_;
      advance(next, sink);
    }
  }

  /// Whether the last run ended at a collective.
  [[nodiscard]] bool has_arrived() const { return arrived_; }

 private:
  enum class State { idle, computes, sleeps, ended };
  struct Stream {
    State state = State::idle;
    bool is_over = false;   ///< its task ends now
    std::size_t place = 0;  ///< of its next task, or of that which it does
    int pass = 0;
    double start = 0.0;
    double left = 0.0;  ///< of a computation: seconds of the GPU alone
    double until = 0.0;
  };
  struct Factor {
    std::int64_t micro_batch = -1;
    double value = 1.0;
  };

  /// Begins all tasks that can begin now. Those that take no time also end.
  template <class Sink>
  void begin_tasks(const std::vector<Meeting>& held, int passes, Sink&& sink) {
    for (bool begun = true; begun;) {
      begun = false;
      for (std::size_t s = 0; s < streams_.size(); ++s)
        while (streams_[s].state == State::idle && may_begin(s, passes)) {
          if (!begin(s, held)) return;
          if (streams_[s].state == State::idle) finish(s, sink);
          begun = true;
        }
    }
  }

  [[nodiscard]] const WorkerPlan::Item& item(std::size_t s) const { return plan_->streams[s][streams_[s].place]; }

  bool may_begin(std::size_t s, int passes) {
    Stream& stream = streams_[s];
    if (stream.pass >= passes) {
      stream.state = State::ended;
      return false;
    }
    for (const Dependency& d : item(s).waits_for)
      if (stream.pass >= d.lag && !(d.until && stream.pass >= *d.until) && done_[d.before] < stream.pass - d.lag + 1)
        return false;
    return true;
  }

  /// @returns whether the task has begun: false for a collective that is still to be held
  bool begin(std::size_t s, const std::vector<Meeting>& held) {
    Stream& stream = streams_[s];
    const WorkerPlan::Item& task = item(s);
    stream.start = now_;
    if (task.kind == WorkerPlan::Kind::meets) {
      arrived_ = met_ >= held.size();
      if (arrived_) return false;
      const Meeting& meeting = held[met_++];
      stream.start = meeting.start;
      stream.until = std::max(now_, meeting.end);
      stream.state = State::sleeps;
    } else if (task.time > 0) {
      const bool computes = task.kind == WorkerPlan::Kind::computes;
      if (computes) stream.left = task.time * factor(task, stream.pass) / speed_;
      else stream.until = now_ + task.time;
      stream.state = computes ? State::computes : State::sleeps;
    }
    return true;
  }

  template <class Sink>
  void finish(std::size_t s, Sink&& sink) {
    Stream& stream = streams_[s];
    const TaskId id = item(s).id;
    stream.state = State::idle;
    stream.is_over = false;
    ++done_[id];
    sink(s, id, stream.pass, stream.start, now_);
    if (++stream.place < plan_->streams[s].size()) return;
    stream.place = 0;
    ++stream.pass;
  }

  /// The streams that share the GPU now.
  [[nodiscard]] double computing() const {
    int sharing = 0;
    for (const Stream& stream : streams_) sharing += stream.state == State::computes;
    return sharing;
  }

  [[nodiscard]] double next_event() const {
    const double sharing = computing();
    double next = std::numeric_limits<double>::infinity();
    for (const Stream& stream : streams_) {
      if (stream.state == State::computes) next = std::min(next, now_ + stream.left * sharing);
      if (stream.state == State::sleeps) next = std::min(next, stream.until);
    }
    return next;
  }

  template <class Sink>
  void advance(double next, Sink&& sink) {
    const double sharing = computing(), passed = next - now_;
    for (Stream& stream : streams_) {
      // Rounding may leave a little of a computation that ends at `next`.
      if (stream.state == State::computes) {
        stream.is_over = now_ + stream.left * sharing <= next;
        stream.left -= passed / sharing;
      } else {
        stream.is_over = stream.state == State::sleeps && stream.until <= next;
      }
    }
    now_ = next;
    for (std::size_t s = 0; s < streams_.size(); ++s)
      if (streams_[s].is_over) finish(s, sink);
  }

  /// The mean jitter factor of the task's micro-batches; each is drawn once.
  double factor(const WorkerPlan::Item& task, int pass) {
    const Jitter& jitter = scenario_->cluster.jitter;
    if (jitter.cv == 0) return 1.0;
    const std::int64_t latest = std::int64_t{pass} * plan_->draws + task.micro_batch;
    double sum = 0;
    for (int i = 0; i < task.micro_batches; ++i) sum += draw(jitter, latest - i);
    return sum / task.micro_batches;
  }
  double draw(const Jitter& jitter, std::int64_t micro_batch) {
    Factor& known = factors_[static_cast<std::size_t>(micro_batch) % factors_.size()];
    if (known.micro_batch != micro_batch)
      known = {micro_batch, jitter_factor(jitter, scenario_->evaluation.seed, run_, worker_, micro_batch)};
    return known.value;
  }

  const WorkerPlan* plan_;
  const Scenario* scenario_;
  int worker_;
  int run_;
  double speed_;
  double now_ = 0.0;
  std::size_t met_ = 0;  ///< collectives held so far
  bool arrived_ = false;
  std::vector<Stream> streams_;
  std::vector<int> done_;        ///< by task: passes in which it has ended
  std::vector<Factor> factors_;  ///< of the latest micro-batches
};

}  // namespace stepcast
