#include "program/command_line.hpp"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"
#include "program/help_formatter.hpp"
#include "program/option_texts.hpp"
#include "program/streams.hpp"

namespace stepcast {
namespace {

constexpr int kUsageError = 2;

/// "-o" and "--output" of all options.
std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : shown_options(app))
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  return names;
}

std::string meant(const std::string& word, const std::vector<std::string>& names) {
  const std::string near = nearest(word, names);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

/// The first argument that nothing took; "" of none.
std::string first_not_taken(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::vector<std::string> left = app.remaining(true);
  const auto first = std::find_first_of(arguments.begin(), arguments.end(), left.begin(), left.end());
  if (first != arguments.end()) return *first;
  return left.empty() ? "" : left.front();
}

/// Makes an empty value of any option or argument, of the program or a subcommand, a usage error.
void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    const CLI::Validator is_there(
        [](const std::string& text) -> std::string {
          return text.empty() ? "an empty value; leave it out, or say which" : "";
        },
        "");
    option->transform(is_there);  // before the option's own checks
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_empty_values(*command);
}

/// Describes the error in a command line. An unknown word comes first, with a similar known word: it is the usual reason
/// why another word is missing.
std::string usage_text(const CLI::App& app, std::string fault, const std::vector<std::string>& arguments) {
  const std::vector<CLI::App*> called = app.get_subcommands();
  const CLI::App& command = called.empty() ? app : *called.back();
  const std::string name =
      called.empty() ? app.get_name() : fmt::format("{} {}", app.get_name(), called.back()->get_name());
  const std::string word = first_not_taken(app, arguments);
  if (word.size() > 1 && word.front() == '-') {
    const std::string option = word.substr(0, word.find('='));
    fault = fmt::format("there is no option {}{}", option, meant(option, options_of(command)));
  } else if (!word.empty() && called.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* one : shown_subcommands(app)) names.push_back(one->get_name());
    fault = fmt::format("there is no subcommand {}; there are {}{}", word, fmt::join(names, ", "), meant(word, names));
  } else if (!word.empty()) {
    fault = fmt::format("{} is an argument too many", word);
  }
  return fmt::format("{}: {}\nRun {} --help for more information.\n", app.get_name(), fault, name);
}

}  // namespace

CommandLine::CommandLine(const std::string& program, const std::string& meaning, const std::string& version)
    : app_(std::make_unique<CLI::App>(meaning, program)) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->formatter(help_formatter());
}

CommandLine::~CommandLine() = default;

Command CommandLine::program() { return Command(app_.get()); }

int CommandLine::run(const AboutProgram& about, int argc, char** argv, const int& exit_code) {
  refuse_empty_values(*app_);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (answered_about_itself(*app_, arguments, about)) return 0;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app_->exit(done);
  } catch (const CLI::ParseError& error) {
    tell(usage_text(*app_, error.what(), arguments));
    return kUsageError;
  } catch (const UsageError& error) {
    tell(usage_text(*app_, error.what(), arguments));
    return kUsageError;
  }
  return exit_code;
}

int finish(const std::string& program, int exit_code) {
  if (exit_code == kUsageError) return exit_code;
  const std::string why = finish_output();
  if (why.empty()) return exit_code;
  tell("{}: cannot write to standard output: {}\n", program, why);
  return 1;
}

}  // namespace stepcast
