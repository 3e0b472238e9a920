// How far a replay has come, and when it has come far enough.
//
// It stops once its steady state is proven or max_steps have ended everywhere. What has begun by then
// is still ended: synchronous participants all end the latest step that one of them has begun, since collectives need
// all workers; asynchronous ones each their own.
//
// Nothing here simulates: it is told what happens, in order of time. Steps are counted from 0, times in seconds.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

struct Period {
  int steps = 1;           ///< c: the pattern repeats after so many steps
  double seconds = 0.0;    ///< D: and takes so long
  bool converges = false;  ///< it is not reached but approached, and D is within kConverged of its limit
};

/// When is a replay in its steady state?
///
/// A replay without randomness is a deterministic system: if all its streams end some consecutive steps exactly as they
/// ended the steps c before, shifted by one and the same time D, then so will all later steps. It is then periodic, with
/// D/c per step. Enough consecutive steps means as many as its longest dependency reaches back, plus one.
///
/// Messages that share links at different times may come nearer to their pattern with every step and never reach it
/// (servers on a torus: a tenth nearer each step). Differences between streams then fall like a geometric series, and so
/// does the change still to come. The step time is told once that is little.
class SteadyState {
 public:
  static constexpr double kConverged = 1e-6;

  /// @param memory     longest lag of a dependency, in steps
  /// @param tolerance  relative to D: two times count as equal
  explicit SteadyState(int memory, int longest_period = 16, double tolerance = 1e-10)
      : memory_(memory), longest_period_(longest_period), tolerance_(tolerance), differences_(longest_period) {}

  /// Adds the ends of every stream in the next step; returns the period once there is one.
  std::optional<Period> add(std::vector<double> ends);

 private:
  [[nodiscard]] const std::vector<double>& at(std::size_t steps_ago) const {
    return history_[history_.size() - 1 - steps_ago];
  }
  [[nodiscard]] double seconds(int c) const { return at(0).front() - at(c).front(); }
  [[nodiscard]] double difference(int c) const;
  [[nodiscard]] bool converges(int c) const;

  int memory_;
  int longest_period_;
  double tolerance_;
  std::deque<std::vector<double>> history_;      ///< newest last
  std::vector<std::deque<double>> differences_;  ///< by period, newest last
};

struct ProgressRules {
  bool asynchronous = false;
  std::optional<int> staleness{};  ///< steps that a participant may be ahead of the slowest
  /// The first step that may be part of a period; none where all steps differ, by chance or by who comes first.
  std::optional<int> periodic_from{};
  int longest_lag = 1;  ///< of a dependency, in steps
  int max_steps = 1;
};

ProgressRules progress_rules(const Scenario& scenario, const StepGraph& graph);

class StepProgress {
 public:
  /// @param tasks  by participant: how many of a step it takes part in
  /// @param tracks  of all participants
  StepProgress(const ProgressRules& rules, const std::vector<int>& tasks, std::size_t tracks);

  /// A participant's track has come to `step`. Whether it begins it, or has nothing more to do.
  bool begin(std::size_t participant, int step);
  /// Whether who has begun `step` has to wait until the slowest has come further.
  [[nodiscard]] bool is_too_far_ahead(int step) const;

  /// A track has ended its last task of `step`; to be told before the end of that task.
  void end_track(std::size_t track, int step, double time);
  /// A participant has ended a task of `step`. Whether with it all have ended the step, and so the slowest has come
  /// further.
  bool end_task(std::size_t participant, int step, double time);

  /// An asynchronous worker came to more than kMostAhead steps for each of the slowest, because its own take no time,
  /// say: it would have kept the replay going for ever.
  [[nodiscard]] bool ran_away() const { return ran_away_; }
  static constexpr int kMostAhead = 1000;

  [[nodiscard]] const std::vector<double>& step_ends() const { return step_ends_; }  ///< when all had ended each
  [[nodiscard]] const std::vector<double>& step_ends(std::size_t participant) const {
    return own_[participant].step_ends;
  }
  [[nodiscard]] const std::optional<Period>& period() const { return period_; }
  /// The step whose end stopped the replay; later ones only let others end.
  [[nodiscard]] int last() const { return first_kept_ - 1; }

 private:
  /// What one participant has done.
  struct Own {
    int tasks = 0;                  ///< of a step
    int begun = -1;                 ///< latest step
    std::vector<int> ended;         ///< by step: tasks
    std::vector<double> step_ends;  ///< by step
  };

  [[nodiscard]] bool runs_away(int step) const;
  void end_step(int step, double time);

  ProgressRules rules_;
  std::vector<Own> own_;  ///< by participant
  std::size_t tracks_;
  long tasks_ = 0;           ///< of a step, of all participants
  int begun_ = -1;           ///< latest step that one of them has begun
  int slowest_ = 0;          ///< steps that all have ended
  std::vector<long> ended_;  ///< by step: tasks
  std::vector<double> step_ends_;
  std::deque<std::vector<double>> track_ends_;  ///< by step from first_kept_ on: end of every track
  int first_kept_ = 0;
  SteadyState steady_;
  std::optional<Period> period_;
  bool stopping_ = false;
  bool ran_away_ = false;
};

}  // namespace stepcast
