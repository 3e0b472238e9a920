// Fields that only sometimes have an effect: the list of them, and the reason why one has none in a scenario.
//
// A field is in the list if another choice in the scenario (a kind, a grouping, a flag) can make every value of it
// useless. A field that loses its effect by a number (one worker, no latency) is not in the list. Having no effect is
// then a valid answer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/scenario/scenario.hpp"

namespace stepcast {

struct SometimesField {
  std::string_view pointer;
  /// The reason for no effect, to follow "has no effect: ". "" if it has one, or if the scenario lacks the field.
  std::string (*why)(const Scenario&);
  /// Reported for an axis only: every document must give the field, or gives it for use with another evaluator.
  bool only_as_axis = false;
};

/// The fields, in the order of the document.
std::span<const SometimesField> sometimes_fields();

}  // namespace stepcast
