// A program's manual page, written from its own help.
#pragma once

#include <string>
#include <vector>

#include "program/options.hpp"

namespace stepcast {

/// A section that the help does not have.
struct ManualSection {
  struct Entry {
    std::string term, text;
  };
  std::string title;  ///< "ENVIRONMENT"
  std::vector<Entry> entries;
};

/// The page in roff, for man(1). Synopsis, subcommands, options and examples are those of --help.
/// @param version  "0.1.0"
std::string man_page(const CLI::App& app, const std::string& version, const std::vector<ManualSection>& sections);

}  // namespace stepcast
