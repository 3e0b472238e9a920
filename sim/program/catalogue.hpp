// What stepcast knows by name: the catalogue that `list` and `show` print.
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
  std::string folder{};  ///< of the working folder's own: "./workloads"
};

/// Shelf names, in the order they are listed.
std::vector<std::string> catalogue_shelves();

/// The JSON files of a folder in order of name, schemas left out.
std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder);

/// "quickstart" of .../quickstart.json.
std::vector<std::string> names_of_files(const std::vector<std::filesystem::path>& files);

/// "did you mean quickstart?", of the file NAME.json in the working folder, or else of the nearest of some names; "" of
/// none.
std::string meant(const std::string& name, const std::vector<std::string>& names);

/// "workload" of "workloads".
std::string singular_of(const std::string& shelf);

/// Whether a shelf's things may be files: all but layers, algorithms, topologies and transports.
bool is_of_file(const std::string& shelf);

/// The file of that name on such a shelf: in the working folder, or else in the library.
std::optional<std::filesystem::path> file_on_shelf(const std::string& shelf, const std::string& name,
                                                   const std::filesystem::path& library);

/// What is told of one's own file that holds `json`, once it is known to be sound.
/// @pre is_of_file(shelf), and it is not "scenarios"
/// @throws ScenarioError
CatalogueEntry own_entry(const std::string& shelf, const Json& json, const std::string& file,
                         const std::filesystem::path& library);

/// Everything on the shelves. Workloads, clusters, scenarios and suites come from the library folder; before them stands
/// what the working folder has in workloads/, clusters/, ..., which hides what has its name.
std::vector<CatalogueEntry> catalogue(const std::filesystem::path& library);

}  // namespace stepcast
