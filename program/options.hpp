// The options of a command, as a program declares them. CLI11 does the work, behind functions that are compiled once:
// its headers are templates that each subcommand would compile anew.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stepcast {

/// A command line that does not say what it should: exit code 2.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& why) : std::runtime_error(why) {}
  UsageError(const std::string& option, const std::string& why) : std::runtime_error(option + ": " + why) {}
};

/// Reads an option's text with `read`.
/// @throws UsageError for the option, with the message of `read`'s std::invalid_argument
template <class Read>
decltype(auto) read_option(const std::string& option, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const std::invalid_argument& error) {
    throw UsageError(option, error.what());
  }
}

/// One option or argument of a command; a handle, cheap to copy. Rules return the option, so that calls follow each
/// other.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// The value's name in the help, such as PATH.
  Option& type_name(const std::string& name);
  Option& required();
  /// These values alone are allowed.
  Option& one_of(const std::vector<std::string>& values);
  Option& one_of_any_case(const std::vector<std::string>& values);
  /// Whole numbers from `least` to `most` alone are allowed.
  Option& between(std::int64_t least, std::int64_t most);
  /// @param fault_of  says why a value is refused; "" for a good one
  Option& check(const std::function<std::string(const std::string& text)>& fault_of);
  Option& needs(const Option& other);
  Option& excludes(const Option& other);
  /// Several values in one word, between commas.
  Option& split_at_commas();
  /// The option is repeated for each further value: words after the first value are arguments.
  Option& one_value_a_time();
  /// An argument of so many words.
  Option& count_of_words(int least, int most);
  /// The help shows the value that the variable has now.
  Option& show_default();
  /// The help leaves it out.
  Option& hidden();

  /// Whether it is on the command line; known in callbacks.
  [[nodiscard]] bool is_given() const;

 private:
  CLI::Option* option_;
};

/// A program or one of its subcommands; a handle, cheap to copy. Variables that options write to must outlive parsing.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command add_subcommand(const std::string& name, const std::string& meaning);

  /// @param names   "--csv", "-o,--output"; without a dash it is an argument
  /// @param target  gets the value
  Option add_option(const std::string& names, std::string& target, const std::string& meaning);
  Option add_option(const std::string& names, std::vector<std::string>& target, const std::string& meaning);
  Option add_option(const std::string& names, std::vector<int>& target, const std::string& meaning);
  Option add_option(const std::string& names, int& target, const std::string& meaning);
  Option add_option(const std::string& names, std::int64_t& target, const std::string& meaning);
  Option add_option(const std::string& names, double& target, const std::string& meaning);
  Option add_option(const std::string& names, std::optional<int>& target, const std::string& meaning);
  Option add_option(const std::string& names, std::optional<std::size_t>& target, const std::string& meaning);
  Option add_option(const std::string& names, std::optional<double>& target, const std::string& meaning);
  Option add_flag(const std::string& names, bool& target, const std::string& meaning);

  /// Text below the help: examples.
  void footer(const std::string& text);
  /// Runs `run` once the subcommand's options are read.
  void callback(const std::function<void()>& run);

 private:
  CLI::App* app_;
};

}  // namespace stepcast
