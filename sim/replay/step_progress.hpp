// The progress of a replay, and the decision when to stop it.
//
// It stops once its steady state is proven, or max_steps have ended everywhere. Begun steps are still ended.
// Synchronous participants all end the latest step that one of them has begun, since collectives need all workers.
// Asynchronous participants each end their own, or that of the workers with whom they add up gradients. If a step proves
// to be apart from the next one, nothing has begun and the replay is over at once.
//
// Nothing here simulates. Events are reported in order of time. Steps are counted from 0, and times are in seconds.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

struct Period {
  int steps = 1;         ///< c: the pattern repeats after this many steps
  double seconds = 0.0;  ///< D: the time that these steps take
  /// The replay approaches the period without reaching it, and D is within kConverged of its limit.
  bool converges = false;
  /// The step was apart from both its neighbours: it began when the step before had ended everywhere, and so did the
  /// next.
  bool apart = false;
};

/// Detects the steady state of a replay.
///
/// A replay without randomness is a deterministic system. Suppose all streams end enough consecutive steps exactly as
/// they ended the steps c before, shifted by one time D. All later steps then do the same, and the replay is periodic
/// with D/c per step. Enough steps means the lag of its longest dependency, plus one.
///
/// Messages that share links at different times may approach a pattern and never reach it: servers on a torus come a
/// tenth nearer each step. The streams' differences then fall like a geometric series, and so does the possible change
/// of the step time. The step time is reported once that change is little.
class SteadyState {
 public:
  static constexpr double kConverged = 1e-6;
  /// Times as near as this part of a period count as equal.
  static constexpr double kEqual = 1e-10;
  /// Times are sums of many terms, so their rounding errors grow with the clock: by this part of it.
  static constexpr double kRounding = 4e-15;

  /// @param memory     longest lag of a dependency, in steps
  /// @param tolerance  relative to D: two times count as equal
  explicit SteadyState(int memory, int longest_period = 16, double tolerance = kEqual)
      : memory_(memory), longest_period_(longest_period), tolerance_(tolerance), differences_(longest_period) {}

  /// Adds the ends of every stream in the next step. Returns the period once there is one.
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
  int together = 1;                ///< asynchronous: so many participants in a row begin the same steps
  std::optional<int> staleness{};  ///< steps that a participant may be ahead of the slowest
  bool by_updates = false;         ///< max_steps counts the updates of servers, not the steps of the slowest
  /// The first step that may be part of a period. None if all steps differ, by chance or by the order of arrival.
  std::optional<int> periodic_from{};
  int longest_lag = 1;  ///< longest lag of a dependency, in steps
  int max_steps = 1;
  /// Whether one step that is apart from its neighbours proves the steady state. Nothing of it is left at its end, so
  /// the next one finds what the first one found. Without this, the replay shows at least three steps.
  bool one_may_do = false;
};

ProgressRules progress_rules(const Scenario& scenario, const StepGraph& graph);

class StepProgress {
 public:
  /// @param tasks  by participant: how many tasks of a step it takes part in
  /// @param tracks  tracks of all participants
  StepProgress(const ProgressRules& rules, const std::vector<int>& tasks, std::size_t tracks);

  /// Reports that a participant's track has come to `step`. Returns whether it begins the step; if not, it has nothing
  /// more to do.
  bool begin(std::size_t participant, int step);
  /// Whether a participant that has begun `step` must wait for the slowest.
  [[nodiscard]] bool is_too_far_ahead(int step) const;

  /// Reports that a participant comes to a task of `step` and waits for none of its own tasks any more.
  void begin_task(int step, double time);
  /// Reports that a track has ended its last task of `step`. Must come before the end of that task.
  void end_track(std::size_t track, int step, double time);
  /// Reports that a participant has ended a task of `step`. Returns whether all have now ended the step, so that the
  /// slowest has advanced.
  bool end_task(std::size_t participant, int step, double time);

  /// Reports the number of updates that all servers have made. Returns whether no step begins any more.
  bool end_updates(std::size_t updates);

  /// Whether nothing of the replay is left to do, since the latest step was apart.
  [[nodiscard]] bool is_over() const { return period_ && period_->apart; }

  /// Whether an asynchronous worker did more than kMostAhead steps for each of the slowest worker's. Its steps may take
  /// no time, and would then keep the replay going for ever.
  [[nodiscard]] bool ran_away() const { return ran_away_; }
  static constexpr int kMostAhead = 1000;

  /// The time when all participants had ended each step.
  [[nodiscard]] const std::vector<double>& step_ends() const { return step_ends_; }
  [[nodiscard]] const std::vector<double>& step_ends(std::size_t participant) const {
    return own_[participant].step_ends;
  }
  [[nodiscard]] const std::optional<Period>& period() const { return period_; }
  /// The step whose end stopped the replay. Later steps only let others end.
  [[nodiscard]] int last() const { return first_kept_ - 1; }

 private:
  /// The progress of one participant.
  struct Own {
    int tasks = 0;                  ///< tasks of a step
    std::vector<int> ended;         ///< by step: tasks
    std::vector<double> step_ends;  ///< by step
  };

  /// The latest step that this participant has begun, or one that begins the same steps.
  [[nodiscard]] int& begun_with(std::size_t participant) {
    return begun_[rules_.asynchronous ? participant / static_cast<std::size_t>(rules_.together) : 0];
  }
  [[nodiscard]] bool runs_away(int step) const;
  void end_step(int step, double time);
  /// Whether nothing of the step begins before the one before it has ended everywhere.
  [[nodiscard]] bool begins_apart(int step) const;
  [[nodiscard]] double length_of(int step) const;

  ProgressRules rules_;
  std::vector<Own> own_;  ///< by participant
  std::size_t tracks_;
  long tasks_ = 0;           ///< tasks of a step, of all participants
  std::vector<int> begun_;   ///< latest step that one has begun of those together; of all, if synchronous
  int slowest_ = 0;          ///< number of steps that all have ended
  std::vector<long> ended_;  ///< by step: tasks
  std::vector<double> step_ends_;
  std::vector<double> first_begin_;             ///< by step: when the first of its tasks began
  std::deque<std::vector<double>> track_ends_;  ///< by step from first_kept_ on: end of every track
  int first_kept_ = 0;
  SteadyState steady_;
  std::optional<Period> period_;
  bool stopping_ = false;
  bool ran_away_ = false;
};

}  // namespace stepcast
