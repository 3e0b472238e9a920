// What command lines of all subcommands have in common: values that are not empty, and words on those that are wrong.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace stepcast {

/// Makes an empty value of any option or argument, of the program or a subcommand, a usage error: `--csv "$FILE"` where
/// FILE is not set would otherwise be as if --csv were not there. To be called when all options are added.
void refuse_empty_values(CLI::App& app);

/// What is wrong with a command line, ending in a newline. A word that nothing takes is told first, with the one that
/// may be meant: it most often is why another one is missing.
/// @param arguments  as given, without the program's name
std::string usage_text(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments);

}  // namespace stepcast
