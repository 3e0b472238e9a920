#include "program/complete.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "program/option_texts.hpp"

namespace stepcast {
namespace {

/// The option of that name, "--csv" or "-o"; null where there is none.
const CLI::Option* option_named(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : shown_options(command)) {
    const std::vector<std::string> names = names_of(*option);
    if (std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

bool takes_value(const CLI::Option* option) { return option != nullptr && option->get_items_expected_max() > 0; }

bool names_files(const CLI::Option& option) {
  static const std::set<std::string> kOfFiles = {"PATH", "FILE", "FOLDER"};
  return kOfFiles.contains(value_name(option));
}

/// The argument that a word at this place is; null behind the last.
const CLI::Option* argument_at(const CLI::App& command, std::size_t place) {
  const std::vector<const CLI::Option*> arguments =
      command.get_options([](const CLI::Option* option) { return option->get_positional(); });
  for (const CLI::Option* argument : arguments) {
    const auto most = static_cast<std::size_t>(std::max(1, argument->get_items_expected_max()));
    if (place < most) return argument;
    place -= most;
  }
  return nullptr;
}

/// Arguments among the words of a subcommand: neither options nor their values.
std::size_t count_arguments(const CLI::App& command, const std::vector<std::string>& words, std::size_t begin) {
  std::size_t count = 0;
  for (std::size_t i = begin; i + 1 < words.size(); ++i) {
    if (words[i].size() < 2 || words[i].front() != '-') ++count;
    else if (takes_value(option_named(command, words[i]))) ++i;
  }
  return count;
}

Completions values_of(const CLI::Option& option, TypedPlace asked, const KnownValues& known) {
  Completions found = known ? known(asked) : Completions{};
  for (const std::string& choice : choices_of(option)) found.words.push_back({choice, ""});
  found.files |= names_files(option);
  return found;
}

Completions subcommands_of(const CLI::App& app) {
  Completions found;
  for (const CLI::App* command : shown_subcommands(app))
    found.words.push_back({command->get_name(), command->get_description()});
  return found;
}

Completions option_words(const CLI::App& command) {
  Completions found;
  for (const CLI::Option* option : shown_options(command))
    for (const std::string& name : names_of(*option)) found.words.push_back({name, option->get_description()});
  return found;
}

/// The completions behind `typed`, all beginning with it: "--csv=".
Completions behind(const std::string& typed, Completions found) {
  for (Completion& one : found.words) one.word = typed + one.word;
  return found;
}

Completions all_at(const CLI::App& app, const std::vector<std::string>& words, const KnownValues& known) {
  const std::string& partial = words.back();
  const auto called = std::find_if(words.begin(), words.end() - 1,
                                   [](const std::string& word) { return word.empty() || word.front() != '-'; });
  if (called == words.end() - 1) return partial.starts_with("-") ? option_words(app) : subcommands_of(app);
  const std::vector<const CLI::App*> commands = shown_subcommands(app);
  const auto of_that_name =
      std::find_if(commands.begin(), commands.end(), [&](const CLI::App* one) { return one->get_name() == *called; });
  if (of_that_name == commands.end()) return {};
  const CLI::App* command = *of_that_name;
  TypedPlace asked{*called, "", partial, {words.begin(), words.end() - 1}};
  const auto equals = partial.find('=');
  if (partial.starts_with("--") && equals != std::string::npos) {
    asked.option = partial.substr(0, equals);
    asked.partial = partial.substr(equals + 1);
    const CLI::Option* option = option_named(*command, asked.option);
    return takes_value(option) ? behind(asked.option + "=", values_of(*option, asked, known)) : Completions{};
  }
  if (const CLI::Option* option = option_named(*command, words.size() > 1 ? words[words.size() - 2] : "");
      takes_value(option)) {
    asked.option = "--" + (option->get_lnames().empty() ? "" : option->get_lnames().front());
    return values_of(*option, asked, known);
  }
  if (partial.size() > 0 && partial.front() == '-') return option_words(*command);
  const std::size_t begin = static_cast<std::size_t>(called - words.begin()) + 1;
  const CLI::Option* argument = argument_at(*command, count_arguments(*command, words, begin));
  if (argument == nullptr) return {};
  asked.option = argument->get_name(true);
  return values_of(*argument, asked, known);
}

/// The first sentence's beginning: a line of a terminal has little room.
std::string in_short(const std::string& meaning) {
  constexpr std::size_t kMost = 60;
  std::string text = meaning.substr(0, meaning.find_first_of(";\n\t"));
  if (text.size() <= kMost) return text;
  return text.substr(0, text.rfind(' ', kMost)) + " ...";
}

}  // namespace

Completions complete(const CLI::App& app, const std::vector<std::string>& words, const KnownValues& known) {
  if (words.empty()) return subcommands_of(app);
  Completions found = all_at(app, words, known);
  std::set<std::string> seen;
  std::erase_if(found.words, [&](const Completion& one) {
    return !one.word.starts_with(words.back()) || !seen.insert(one.word).second;
  });
  return found;
}

std::string completion_text(const Completions& completions) {
  std::string text = completions.files ? "files\n" : "words\n";
  for (const Completion& one : completions.words)
    if (one.word.find_first_of("\n\t") == std::string::npos)
      text += fmt::format("{}\t{}\n", one.word, in_short(one.meaning));
  return text;
}

}  // namespace stepcast
