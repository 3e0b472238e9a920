// Points of a study that cannot be, and why.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/describe/fault.hpp"

namespace stepcast {

/// Counts points by the rule they break: faults of one place that allow the same are one rule.
class LeftOut {
 public:
  /// A point with its first fault.
  /// @param pointer  the fault's in the point's own document, the same for all values of an axis
  void add(Fault fault, std::string pointer);

  [[nodiscard]] std::size_t points() const { return points_; }
  /// The first fault of each rule, in the order in which they were met.
  [[nodiscard]] std::vector<Fault> faults() const;
  /// A note for each of the rules that left out most points, and one for the rest.
  /// @param of  points of the study, those left out too
  [[nodiscard]] std::vector<std::string> notes(std::size_t of) const;

 private:
  struct Rule {
    Fault first;
    std::string pointer;
    std::size_t points = 0;
  };
  std::vector<Rule> rules_;
  std::size_t points_ = 0;
};

}  // namespace stepcast
