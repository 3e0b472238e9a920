// A scenario in options, in place of a file: --workload bert-base --cluster dgx-1-v100 --workers 16 --link 10Gbps.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/override.hpp"
#include "program/options.hpp"

namespace stepcast {

/// One option whose value is a field of the scenario.
struct ScenarioWord {
  std::string option;   ///< "--workers"
  std::string pointer;  ///< "/cluster/workers"
  std::string unit;     ///< the value's name in the help
  std::string meaning;
};

/// All of them, a part before the fields inside it.
const std::vector<ScenarioWord>& scenario_words();

/// The texts of the options by index of scenario_words(); empty where an option is not given.
using WordTexts = std::vector<std::string>;

/// Whether the option is among those given.
bool is_given(const WordTexts& texts, const std::string& option);

/// @param texts  gets the values; must outlive parsing
void add_words(Command& command, WordTexts& texts);

/// The fields that the options set. Values between commas are a list, which makes an axis: --workers 4,16.
/// @throws UsageError
std::vector<Override> overrides_of_words(const WordTexts& texts);

}  // namespace stepcast
