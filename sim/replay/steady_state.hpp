// When is a replay in its steady state?
//
// A replay without randomness is a deterministic system: if all its streams end some consecutive steps exactly
// as they ended the steps c before, shifted by one and the same time D, then so will all later steps. It is
// then periodic, with D/c per step. Enough consecutive steps means as many as its longest dependency reaches
// back, plus one.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace stepcast {

struct Period {
  int steps = 1;          ///< c: the pattern repeats after so many steps
  double seconds = 0.0;   ///< D: and takes so long
};

class SteadyState {
 public:
  /// @param memory     longest lag of a dependency, in steps
  /// @param tolerance  relative to D: two times count as equal
  explicit SteadyState(int memory, int longest_period = 16, double tolerance = 1e-10)
      : memory_(memory), longest_period_(longest_period), tolerance_(tolerance) {}

  /// Adds the ends of every stream in the next step; returns the period once there is one.
  std::optional<Period> add(std::vector<double> ends);

 private:
  int memory_;
  int longest_period_;
  double tolerance_;
  std::deque<std::vector<double>> history_;  ///< newest last
};

}  // namespace stepcast
