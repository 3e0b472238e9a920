// The JSON document behind a Scenario. For every pointer it records the source file and place, so that a fault names a
// place that its author can open. Overrides (override.hpp) change it; references (references.hpp) lead to its parts.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/json.hpp"
#include "models/scenario/origins.hpp"

namespace stepcast {

/// A JSON document with the origins of its parts.
struct Document {
  Json json;
  Origins origins;
  /// Set by resolve_references if the workload is plain text.
  std::optional<std::filesystem::path> workload_file{};
  /// A workload moved out of `json` (null there), shared by all documents made from this one.
  std::shared_ptr<const Json> workload{};
  /// A change to every value of a list. A point has one of these values.
  struct Spread {
    std::string file, place;
    std::string list;     ///< the pointer of the list
    std::string value{};  ///< label of the point's value, once it is chosen
  };
  std::vector<Spread> spread{};
  /// /strategy/kind is not given: a change of one of its fields added the default's.
  bool strategy_is_assumed = false;
  /// Pointers of values left empty by a reported fault. Missing values at or below them are not reported again.
  std::vector<std::string> given_up{};
};

}  // namespace stepcast
