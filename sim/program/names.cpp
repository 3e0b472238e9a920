#include "sim/program/names.hpp"

#include <algorithm>
#include <exception>
#include <map>

#include "models/report/metrics.hpp"
#include "models/scenario/library.hpp"
#include "sim/program/catalogue.hpp"
#include "sim/program/pointers.hpp"
#include "sim/program/study_options.hpp"

namespace stepcast {
namespace {

/// Everything on a shelf; on all shelves for "".
std::vector<Completion> on_shelf(const std::string& shelf) {
  std::vector<Completion> names;
  for (const CatalogueEntry& entry : catalogue(default_library()))
    if (shelf.empty() || entry.shelf == shelf)
      names.push_back({entry.name.substr(entry.shelf == "algorithms" ? entry.name.find('/') + 1 : 0), entry.meaning});
  return names;
}

/// Shipped scenarios by name alone: reading them all takes longer than a key press should.
std::vector<Completion> scenario_names() {
  std::vector<Completion> names;
  for (const std::string& name : names_of_files(json_files(default_library()))) names.push_back({name, ""});
  return names;
}

/// The study on the line so far.
Study study_on(const TypedPlace& asked) {
  StudyOptions options;
  const std::vector<std::string>& words = asked.words;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool is_value = words[i - 1].starts_with("--");
    if (words[i - 1] == "--set") options.sets.push_back(words[i]);
    if (options.file.empty() && !is_value && !words[i].starts_with("-")) options.file = words[i];
  }
  return load(options);
}

/// "workers=16" of all axes, or "workers" alone.
std::vector<Completion> axes_of(const TypedPlace& asked, bool with_values) {
  std::vector<Completion> found;
  const Study study = study_on(asked);
  for (std::size_t axis = 0; axis < study.axes.size(); ++axis) {
    if (!with_values) found.push_back({study.axes[axis], ""});
    else
      for (const std::string& value : study.axis_values[axis]) found.push_back({study.axes[axis] + "=" + value, ""});
  }
  return found;
}

std::vector<Completion> goals() {
  std::vector<Completion> names;
  for (const Metric& metric : metrics())
    if (!metric.compared.goal.empty()) names.push_back({std::string(metric.compared.goal), metric.meaning});
  return names;
}

Completions argument_values(const TypedPlace& asked) {
  if (asked.command == "list" || asked.command == "schema") return {};  // their checks have all names
  if (asked.command == "merge") return {.words = {}, .files = true};
  if (asked.command == "validate" || asked.command == "fit") return {.words = on_shelf("suites"), .files = true};
  if (asked.command == "show") return {.words = on_shelf(""), .files = true};
  return {.words = scenario_names(), .files = true};
}

Completions values(const TypedPlace& asked) {
  static const std::map<std::string, std::string> kShelves = {
      {"--workload", "workloads"},  {"--cluster", "clusters"}, {"--stack", "stacks"}, {"--compressor", "compressors"},
      {"--strategy", "strategies"}, {"--profile", "profiles"}, {"--gpu", "profiles"}};
  const std::string& option = asked.option;
  if (!option.starts_with("-")) return argument_values(asked);
  if (const auto shelf = kShelves.find(option); shelf != kShelves.end()) return {on_shelf(shelf->second)};
  if (option == "--set") return pointers_at(asked.partial, true);
  if (option == "--along" || option == "--constant") return pointers_at(asked.partial, false);
  if (option == "--by" || option == "--for") return {goals()};
  if (option == "--point" || option == "--over") return {axes_of(asked, true)};
  if (option == "--each" || option == "--among") return {axes_of(asked, false)};
  return {};
}

}  // namespace

Completions known_values(const TypedPlace& asked) {
  try {
    return values(asked);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace stepcast
