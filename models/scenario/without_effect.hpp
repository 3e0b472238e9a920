// Fields that have an effect only sometimes: which they are, and why one has none in a scenario.
//
// A field is one of them where a choice that the scenario makes elsewhere, such as a kind, a grouping or a flag, leaves
// no use for it whatever its value. Where its effect is nothing because of a number (one worker, no latency), that is
// an answer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/scenario/scenario.hpp"

namespace stepcast {

struct SometimesField {
  std::string_view pointer;
  /// Why it has no effect, to stand behind "has no effect: "; "" where it has one, or the scenario has no such field.
  std::string (*why)(const Scenario&);
  /// News of an axis only: every document has to say it, or says it for when it is asked with another evaluator.
  bool only_as_axis = false;
};

/// In the order of the document.
std::span<const SometimesField> sometimes_fields();

/// Whether the field at `pointer` of the strategy, compressor, codec settings, workload, cluster or evaluation holds
/// its default.
bool holds_default(const Scenario& scenario, std::string_view pointer);

}  // namespace stepcast
