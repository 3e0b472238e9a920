#include "sim/program/suite_files.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/library.hpp"
#include "models/study/suite.hpp"
#include "program/options.hpp"
#include "sim/program/bad_input.hpp"
#include "sim/program/catalogue.hpp"

namespace stepcast {

std::vector<std::filesystem::path> suite_files(const std::vector<std::string>& words) {
  const auto folder = suites_folder(default_library());
  const auto shipped = json_files(folder);
  if (shipped.empty() && words.empty())  // otherwise an empty folder would pass
    throw UsageError(
        "suite",
        fmt::format(
            "there are no suites in {}; set $STEPCAST_SCENARIOS to the folder of the shipped scenarios, or name a file",
            folder.string()));
  if (words.empty()) return shipped;
  const std::vector<std::string> names = names_of_files(shipped);
  std::vector<std::filesystem::path> files;
  for (const std::string& word : words) {
    if (word.ends_with(".json") || word == "-") {
      files.emplace_back(word);
      continue;
    }
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      const std::string near = meant(word, names);
      throw BadInput(fmt::format("{}: no shipped suite, and no path ending in .json; there are {}{}{}", word,
                                 fmt::join(names, ", "), near.empty() ? "" : "; ", near));
    }
    files.push_back(folder / (word + ".json"));
  }
  return files;
}

}  // namespace stepcast
