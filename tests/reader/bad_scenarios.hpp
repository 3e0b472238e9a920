// Scenarios with one thing wrong, and what must be said about each. Read by bad_scenarios_test.cpp and, for the
// faults that a schema can see, by schema_test.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/describe/json.hpp"

namespace stepcast::test {

struct BadScenario {
  std::string name;
  std::string text;
  std::string pointer;   ///< place of the fault, exactly
  std::string found;     ///< fragment
  std::string allowed;   ///< fragment
  std::string remedy{};  ///< fragment
  bool seen_by_schema = false;
  std::vector<std::string> sets{};  ///< --set arguments; the fault is then theirs
};

using Changes = std::vector<std::pair<std::string, Json>>;

/// A small scenario without faults, of eight workers, with these values set and these pointers erased.
std::string good_scenario(const Changes& changes = {}, const std::vector<std::string>& erased = {});

std::vector<BadScenario> bad_scenarios();

}  // namespace stepcast::test
