// How far a replay has come, and when it has come far enough.
//
// It stops once its steady state is proven (steady_state.hpp) or max_steps have ended everywhere. What has begun by then
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
#include "sim/replay/steady_state.hpp"

namespace stepcast {

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
