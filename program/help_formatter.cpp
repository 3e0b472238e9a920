#include "program/help_formatter.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program/option_texts.hpp"

namespace stepcast {
namespace {

constexpr std::size_t kLine = 80, kLeft = 26;

/// Words between blanks; a part in single quotes belongs to one word.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '\'') is_quoted = !is_quoted;
    if (c == ' ' && !is_quoted) words.emplace_back();
    else words.back() += c;
  }
  std::erase(words, "");
  return words;
}

std::vector<std::string> plain_words(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// The words in lines of at most `width` characters. All lines but the last end with `ending`.
std::vector<std::string> wrapped(const std::vector<std::string>& words, std::size_t width,
                                 const std::string& ending = "") {
  std::vector<std::string> lines(1);
  for (const std::string& word : words) {
    std::string& line = lines.back();
    if (!line.empty() && line.size() + 1 + word.size() + ending.size() > width) {
      line += ending;
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return lines;
}

/// The name on the left, its meaning beside it, or below it if the name is long.
std::string entry(const std::string& name, const std::string& meaning) {
  std::string text = fmt::format("  {:<{}}", name, kLeft - 2);
  if (name.size() + 4 > kLeft) text += fmt::format("\n{:{}}", "", kLeft);
  const std::vector<std::string> lines = wrapped(plain_words(meaning), kLine - kLeft);
  text += fmt::format("{}\n", fmt::join(lines, fmt::format("\n{:{}}", "", kLeft)));
  return text;
}

/// The option's meaning, with the choices that it does not list, the default, and whether it is required.
std::string meaning_of(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::vector<std::string> choices = choices_of(option);
  const auto is_told = [&](const std::string& choice) { return text.find(choice) != std::string::npos; };
  if (!std::all_of(choices.begin(), choices.end(), is_told)) text += fmt::format(": {}", fmt::join(choices, ", "));
  if (!option.get_default_str().empty()) text += fmt::format(" [{}]", option.get_default_str());
  if (option.get_required()) text += " (required)";
  return text;
}

/// "Example: command", or a further command below it.
std::string example(const std::string& line) {
  std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  if (const auto colon = line.find(": "); line.starts_with("Example") && colon != std::string::npos) begin = colon + 2;
  const std::vector<std::string> lines = wrapped(words_of(line.substr(begin)), kLine - begin - 2, " \\");
  return fmt::format("{}{}\n", line.substr(0, begin), fmt::join(lines, fmt::format("\n{:{}}", "", begin + 2)));
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string value = is_positional ? "" : value_name(*option);
    const std::string name = option->get_name(is_positional, !is_positional);
    return entry(name + (value.empty() ? "" : " " + value), meaning_of(*option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }

  std::string make_description(const CLI::App* command) const override {
    return fmt::format("{}\n", fmt::join(wrapped(plain_words(command->get_description()), kLine), "\n"));
  }

  std::string make_footer(const CLI::App* command) const override {
    std::istringstream lines(command->get_footer());
    std::string text;
    bool is_example = false;
    for (std::string line; std::getline(lines, line);) {
      is_example |= line.starts_with("Example");
      text += is_example ? example(line) : fmt::format("{}\n", fmt::join(wrapped(plain_words(line), kLine), "\n"));
    }
    return text.empty() ? "" : "\n" + text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace stepcast
