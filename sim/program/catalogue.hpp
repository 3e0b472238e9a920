// The catalogue of all names that stepcast knows; `list` and `show` print it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/describe/json.hpp"

namespace stepcast {

struct CatalogueEntry {
  std::string shelf;  ///< workloads, clusters, algorithms, topologies, ...
  std::string name;
  std::string meaning;   ///< one line
  Json details;          ///< fields with units, formulas, defaults
  std::string folder{};  ///< set for entries of the working folder: "./workloads"
};

/// Shelf names, in the order they are listed.
std::vector<std::string> catalogue_shelves();

/// The JSON files of a folder, without schemas, in order of name.
std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder);

/// Returns "quickstart" for .../quickstart.json.
std::vector<std::string> names_of_files(const std::vector<std::filesystem::path>& files);

/// Returns "did you mean quickstart?" for NAME.json in the working folder, or else for the nearest name, or for the
/// few that contain it; "" if none is near.
std::string meant(const std::string& name, const std::vector<std::string>& names);

/// Returns "workload" for "workloads".
std::string singular_of(const std::string& shelf);

/// Whether entries of a shelf may be files: all but layers, algorithms, topologies and transports.
bool is_of_file(const std::string& shelf);

/// The file of that name for a shelf: in the working folder, or else in the library.
std::optional<std::filesystem::path> file_on_shelf(const std::string& shelf, const std::string& name,
                                                   const std::filesystem::path& library);

/// The entry for a user's file that holds `json`. Checks that the file has no faults.
/// @pre is_of_file(shelf), and it is not "scenarios"
/// @throws ScenarioError
CatalogueEntry own_entry(const std::string& shelf, const Json& json, const std::string& file,
                         const std::filesystem::path& library);

/// All entries. Workloads, clusters, scenarios and suites are in the library folder. The working folder's workloads/,
/// clusters/, ... come first, and hide entries of the same name.
std::vector<CatalogueEntry> catalogue(const std::filesystem::path& library);

}  // namespace stepcast
