// The files of a scenario's parts: their folders, search by name, and content.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "models/describe/json.hpp"

namespace stepcast {

/// A kind of part, and the folder that holds its files by bare name.
struct Shelf {
  std::string_view part, folder;
};
/// All parts that have a folder. Scenarios are beside these folders.
inline constexpr std::array kShelves = {Shelf{"workload", "workloads"},  Shelf{"profile", "profiles"},
                                        Shelf{"cluster", "clusters"},    Shelf{"stack", "stacks"},
                                        Shelf{"strategy", "strategies"}, Shelf{"compressor", "compressors"}};

/// The other part, besides `part`, with a file in one of these folders or a kind of that name; "" if there is none.
std::string part_named(const std::string& name, std::string_view part, std::span<const std::filesystem::path> folders);

/// Removes the fields of a part's file that only editors use, also from a pasted part.
void forget_schema(Json& part);

/// Parsed part files. Each file is read once.
class PartFiles {
 public:
  /// `folder` (the scenario's) and `library` contain the folders workloads/, clusters/, stacks/, strategies/ and compressors/
  /// for parts with a bare name. Scenarios are directly in them.
  PartFiles(std::filesystem::path folder, std::filesystem::path library)
      : folder_(std::move(folder)), library_(std::move(library)) {}

  /// The file of `reference`, which `file` uses for the part `part` ("workload", "cluster", ...). A path ending in
  /// .json is relative to that file. A bare name is searched beside the file, then beside the scenario, then in the
  /// library.
  /// @throws ScenarioError with the known parts when there is no such file
  [[nodiscard]] std::filesystem::path find(std::string_view part, const std::string& reference, const std::string& file,
                                           const std::string& pointer);
  /// Whether `reference` is a kind of the part ("all-reduce") and not a file. It then means that kind's defaults.
  [[nodiscard]] bool is_kind(std::string_view part, const std::string& reference, const std::string& file) const;
  /// @throws ScenarioError
  const Json& read(const std::filesystem::path& path);
  /// The content of all files read so far, one line for each file.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::filesystem::path search(std::string_view part, const std::string& reference,
                                             const std::string& file, const std::string& pointer) const;
  /// The file with a bare name.
  [[nodiscard]] std::optional<std::filesystem::path> shelved(std::string_view part, const std::string& reference,
                                                             const std::string& file) const;

  std::filesystem::path folder_, library_;
  std::map<std::string, Json> files_;
  std::map<std::string, std::filesystem::path> found_;  ///< a study repeats its questions
};

}  // namespace stepcast
