// The scenario document on its way to a Scenario: overrides applied, file references followed, and for every
// pointer the file and place it came from, so that a fault names what its writer can open.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/fault.hpp"
#include "models/scenario/json.hpp"

namespace stepcast {

/// Where the parts of a merged document were written.
class Origins {
 public:
  explicit Origins(std::string file) : places_{{"", std::move(file), ""}} {}

  /// From now on `pointer` and all below it come from `place` in `file`.
  void add(std::string pointer, std::string file, std::string place);
  /// Rewrites a fault's merged pointer to file and pointer as written.
  [[nodiscard]] Fault locate(Fault fault) const;
  /// The file that wrote the value at `pointer`.
  [[nodiscard]] std::string file_of(std::string_view pointer) const;

 private:
  struct Place {
    std::string pointer, file, place;
  };
  [[nodiscard]] const Place& place_of(std::string_view pointer) const;
  std::vector<Place> places_;
};

/// A JSON document with the origins of its parts.
struct Document {
  Json json;
  Origins origins;
  /// Set by resolve_references when the workload is given by plain text.
  std::optional<std::filesystem::path> workload_file{};
  /// Parts whose reference leads nowhere; their faults are known, so that reading can go on without them.
  std::vector<std::string> unresolved{};
};

/// Parsed part files, each read once.
class PartFiles {
 public:
  /// `library` holds the folders workloads/, clusters/, ... in which parts are found by bare name.
  explicit PartFiles(std::filesystem::path library) : library_(std::move(library)) {}

  /// The file that `reference` means when written in `file` at the part `part` ("workload", "cluster", ...):
  /// a path ending in .json is relative to that file; a bare name is looked up in <part>s/ beside it, then
  /// in the library.
  /// @throws ScenarioError naming the known parts when there is none
  [[nodiscard]] std::filesystem::path find(std::string_view part, const std::string& reference, const std::string& file, const std::string& pointer) const;
  /// @throws ScenarioError
  const Json& read(const std::filesystem::path& path);

 private:
  std::filesystem::path library_;
  std::map<std::string, Json> files_;
};

/// One `--set /json/pointer=value` (or a variant's "set" entry): where, what, and who said so.
struct Override {
  std::string pointer;
  Json value;
  std::string file;   ///< for faults
  std::string place;  ///< pointer inside `file`
};

/// Parses "/json/pointer=value"; the value is JSON where it parses as such, otherwise text.
/// @throws ScenarioError
Override parse_override(const std::string& text);

/// Writes the value into the document, creating objects on the way. A part given by reference becomes
/// {"from": reference} with the value laid over it.
/// @throws ScenarioError when the pointer is malformed or leads through a value that is no object or list
void apply(const Override& change, Document& document);

/// Replaces every reference of the scenario ("from" at the top, and each part given as text or with "from") by
/// the content of its file, with sibling keys laid over it. A workload referred to by plain text stays text
/// and its path goes to workload_file, so that the points of a study share one copy.
/// @returns a fault for every part whose file is missing or faulty, or whose references loop
/// @throws ScenarioError when that happens at the top, so that there is nothing to read
std::vector<Fault> resolve_references(Document& document, PartFiles& files);

}  // namespace stepcast
