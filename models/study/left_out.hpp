// The impossible points of a study, and the reasons.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/describe/fault.hpp"

namespace stepcast {

/// Counts points by the rule that they break. Faults at one place with the same allowed values are one rule.
class LeftOut {
 public:
  /// Adds a point with its first fault.
  /// @param pointer  the fault's pointer in the point's document, equal for all values of an axis
  void add(Fault fault, std::string pointer);

  [[nodiscard]] std::size_t points() const { return points_; }
  /// The first fault of each rule, in order of occurrence.
  [[nodiscard]] std::vector<Fault> faults() const;
  /// One note for each of the rules that exclude the most points, and one for all other rules.
  /// @param of  the number of points of the study, including the excluded ones
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
