#include "program/option_texts.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace stepcast {

std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> shown_options(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* option) { return !option->get_group().empty() && !names_of(*option).empty(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  std::string name = option.get_type_name();  // "NAME:{auto,equations}": checks follow the colon
  const auto begin = name.find_first_of(":{");
  // "[:STEP]" is a part of the name.
  const bool is_check = begin != std::string::npos && (begin == 0 || name[begin - 1] != '[');
  return is_check ? name.substr(0, begin) : name;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const auto begin = text.find('{'), end = text.rfind('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos || end < begin) return choices;
  for (auto from = begin + 1; from < end;) {
    const auto to = std::min(text.find(',', from), end);
    choices.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return choices;
}

}  // namespace stepcast
