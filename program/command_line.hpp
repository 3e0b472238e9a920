// The command line of a program, from its arguments to its exit code.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "program/about_itself.hpp"

namespace stepcast {

/// Parses the arguments, which runs the subcommand's callback. Wrong arguments are reported on standard error, with
/// exit code 2. An empty value is wrong, too: `--csv "$FILE"` where FILE is not set would be as if --csv were not
/// there.
/// @param about      for the hidden words of about_itself.hpp
/// @param exit_code  left by the callback
int parse_and_run(CLI::App& app, const AboutProgram& about, int argc, char** argv, const int& exit_code);

/// The exit code, if all that was printed arrives; 1 where it does not.
int finish(const std::string& program, int exit_code);

}  // namespace stepcast
