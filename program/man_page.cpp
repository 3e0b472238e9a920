#include "program/man_page.hpp"

#include <algorithm>
#include <cctype>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program/option_texts.hpp"

namespace stepcast {
namespace {

/// Text as it is to be seen: roff's own characters lose their meaning.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string described(const CLI::Option& option) {
  std::string text = plain(option.get_description());
  if (const std::vector<std::string> choices = choices_of(option); !choices.empty())
    text += plain(fmt::format(" [{}]", fmt::join(choices, ", ")));
  if (const std::string value = option.get_default_str(); !value.empty())
    text += plain(fmt::format(" (default: {})", value));
  return text;
}

std::string option_entry(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : names_of(option)) names.push_back(bold(name));
  const std::string value = value_name(option);
  return fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "), value.empty() ? "" : " " + italic(value),
                     described(option));
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string argument_text(const CLI::Option& argument) {
  const bool several = argument.get_items_expected_max() > 1;
  const std::string name = italic(argument.get_name(true)) + (several ? "..." : "");
  return argument.get_required() ? " " + name : " [" + name + "]";
}

/// The footer as written: its lines are commands.
std::string as_lines(const std::string& footer) {
  return footer.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", plain(footer));
}

std::string subcommand_text(const CLI::App& app, const CLI::App& command) {
  std::string text = fmt::format(".SS {} {}", plain(app.get_name()), plain(command.get_name()));
  for (const CLI::Option* argument : arguments_of(command)) text += argument_text(*argument);
  text += fmt::format(" [options]\n{}.\n", plain(command.get_description()));
  for (const CLI::Option* argument : arguments_of(command))
    text += fmt::format(".TP\n{}\n{}\n", italic(argument->get_name(true)), described(*argument));
  for (const CLI::Option* option : shown_options(command)) text += option_entry(*option);
  return text + as_lines(command.get_footer());
}

}  // namespace

std::string man_page(const CLI::App& app, const std::string& version, const std::vector<ManualSection>& sections) {
  const std::string& name = app.get_name();
  std::string text = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", upper(plain(name)), name, version);
  const std::string description = app.get_description();
  text += fmt::format(".SH NAME\n{} \\- {}\n", plain(name), plain(description.substr(0, description.find(':'))));
  text += fmt::format(".SH SYNOPSIS\n{} {} [options]\n", bold(name), italic("subcommand"));
  text += fmt::format(".SH DESCRIPTION\n{}\n", plain(description));
  for (const CLI::Option* option : shown_options(app)) text += option_entry(*option);
  text += ".SH SUBCOMMANDS\n";
  for (const CLI::App* command : shown_subcommands(app)) text += subcommand_text(app, *command);
  for (const ManualSection& section : sections) {
    text += fmt::format(".SH {}\n", plain(section.title));
    for (const auto& [term, meaning] : section.entries)
      text += fmt::format(".TP\n{}\n{}\n", bold(term), plain(meaning));
  }
  if (!app.get_footer().empty()) text += ".SH EXAMPLES\n" + as_lines(app.get_footer());
  return text;
}

}  // namespace stepcast
