// The command line of a program, from its arguments to its exit code.
#pragma once

#include <memory>
#include <string>

#include "program/about_itself.hpp"
#include "program/options.hpp"

namespace stepcast {

class CommandLine {
 public:
  /// @param version  the answer to --version
  CommandLine(const std::string& program, const std::string& meaning, const std::string& version);
  ~CommandLine();

  /// The program itself, which takes one of its subcommands.
  Command program();

  /// Parses the arguments, which runs the subcommand's callback. Wrong arguments are reported on standard error, with
  /// exit code 2. An empty value is wrong, too: `--csv "$FILE"` where FILE is not set would be as if --csv were not there.
  /// @param about      for the hidden words of about_itself.hpp
  /// @param exit_code  left by the callback
  int run(const AboutProgram& about, int argc, char** argv, const int& exit_code);

 private:
  std::unique_ptr<CLI::App> app_;
};

/// The exit code, if all that was printed arrives; 1 where it does not.
int finish(const std::string& program, int exit_code);

}  // namespace stepcast
