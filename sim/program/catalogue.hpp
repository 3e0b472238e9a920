// What stepcast knows by name: the catalogue that `list` and `show` print.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/part/json.hpp"

namespace stepcast {

struct CatalogueEntry {
  std::string shelf;  ///< workloads, clusters, algorithms, topologies, ...
  std::string name;
  std::string meaning;  ///< one line
  Json details;         ///< fields with units, formulas, defaults
};

/// Shelf names, in the order they are listed.
std::vector<std::string> catalogue_shelves();

/// The JSON files of a folder in order of name, schemas left out.
std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder);

/// Everything on the shelves. Workloads, clusters, scenarios and suites come from the library folder.
std::vector<CatalogueEntry> catalogue(const std::filesystem::path& library);

}  // namespace stepcast
