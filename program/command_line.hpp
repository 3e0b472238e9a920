// Shared by the command lines of all subcommands: values that are not empty, and messages about wrong ones.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace stepcast {

/// Makes an empty value of any option or argument, of the program or a subcommand, a usage error: `--csv "$FILE"` where
/// FILE is not set would otherwise be as if --csv were not there. To be called when all options are added.
void refuse_empty_values(CLI::App& app);

/// Describes the error in a command line, ending in a newline. An unknown word comes first, with a similar known word:
/// it is the usual reason why another word is missing.
/// @param arguments  as given, without the program's name
std::string usage_text(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& arguments);

}  // namespace stepcast
