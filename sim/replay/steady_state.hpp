// Detects the steady state of a replay.
//
// A replay without randomness is a deterministic system. Suppose all streams end enough consecutive steps exactly as
// they ended the steps c before, shifted by one time D. All later steps then do the same, and the replay is periodic
// with D/c per step. Enough steps means the lag of its longest dependency, plus one.
//
// Messages that share links at different times may approach a pattern and never reach it: servers on a torus come a
// tenth nearer each step. The streams' differences then fall like a geometric series, and so does the possible change
// of the step time. The step time is reported once that change is little.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace stepcast {

struct Period {
  int steps = 1;         ///< c: the pattern repeats after so many steps
  double seconds = 0.0;  ///< D: the time that these steps take
  /// The replay approaches the period without reaching it, and D is within kConverged of its limit.
  bool converges = false;
};

class SteadyState {
 public:
  static constexpr double kConverged = 1e-6;

  /// @param memory     longest lag of a dependency, in steps
  /// @param tolerance  relative to D: two times count as equal
  explicit SteadyState(int memory, int longest_period = 16, double tolerance = 1e-10)
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

}  // namespace stepcast
