// Texts of a command line's options, for completion and the manual page.
#pragma once

#include <string>
#include <vector>

#include "program/options.hpp"

namespace stepcast {

/// Subcommands that the help lists.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app);

/// Options that the help lists, and arguments that may be given as one.
std::vector<const CLI::Option*> shown_options(const CLI::App& command);

/// "-o" and "--output".
std::vector<std::string> names_of(const CLI::Option& option);

/// The help's word for an option's value, such as "PATH"; "" for flags.
std::string value_name(const CLI::Option& option);

/// The values of an option that has a fixed set of them.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace stepcast
