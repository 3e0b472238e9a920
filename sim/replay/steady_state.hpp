// When is a replay in its steady state?
//
// A replay without randomness is a deterministic system: if all its streams end some consecutive steps exactly
// as they ended the steps c before, shifted by one and the same time D, then so will all later steps. It is
// then periodic, with D/c per step. Enough consecutive steps means as many as its longest dependency reaches
// back, plus one.
//
// Messages that share links at different times may come nearer to their pattern with every step and never reach it
// (servers on a torus: a tenth nearer each step). What streams differ by then falls like a geometric series, and so
// does what the step time may still change by: it is told once that is little.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace stepcast {

struct Period {
  int steps = 1;           ///< c: the pattern repeats after so many steps
  double seconds = 0.0;    ///< D: and takes so long
  bool converges = false;  ///< it is not reached but approached, and D is within kConverged of its limit
};

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

}  // namespace stepcast
