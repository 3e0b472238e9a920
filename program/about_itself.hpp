// Hidden words with which shells and the build ask a program about its own command line:
//     stepcast __complete run --evaluator e     candidates for the last word (completions/)
//     stepcast __man                            the manual page
#pragma once

#include <string>
#include <vector>

#include "program/complete.hpp"
#include "program/man_page.hpp"

namespace stepcast {

struct AboutProgram {
  std::string version;  ///< "0.1.0"
  KnownValues known{};
  std::vector<ManualSection> sections{};
};

/// Prints the answer if the first argument is one of those words.
/// @param app  with all its options
/// @returns whether it was
bool answered_about_itself(const CLI::App& app, const std::vector<std::string>& arguments, const AboutProgram& about);

}  // namespace stepcast
