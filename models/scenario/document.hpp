// The scenario document on its way to a Scenario: overrides applied, file references followed, and for every
// pointer the file and place it came from, so that a fault names what its writer can open.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"

namespace stepcast {

/// Where the parts of a merged document were written.
class Origins {
 public:
  explicit Origins(std::string file) : places_{{"", std::move(file), ""}} {}

  /// From now on `pointer` and all below it come from `place` in `file`.
  void add(std::string pointer, std::string file, std::string place);
  /// The same for what others say of `pointer` and of places below it.
  void add(const std::string& pointer, const Origins& others);
  /// The value that stood at `from` now stands at `to`.
  void move(const std::string& from, const std::string& to);
  /// Rewrites a fault's merged pointer to file and pointer as written.
  [[nodiscard]] Fault locate(Fault fault) const;
  /// The file that wrote the value at `pointer`.
  [[nodiscard]] std::string file_of(std::string_view pointer) const;

  /// From `pointer` on, values come from `place` in `file`.
  struct Place {
    std::string pointer, file, place;
  };
  /// What was changed below `pointer` by others than who wrote the list that it is in.
  [[nodiscard]] std::vector<Place> changes_below(std::string_view pointer, std::string_view list) const;

 private:
  [[nodiscard]] const Place& place_of(std::string_view pointer) const;
  std::vector<Place> places_;
};

/// A JSON document with the origins of its parts.
struct Document {
  Json json;
  Origins origins;
  /// Set by resolve_references when the workload is given by plain text.
  std::optional<std::filesystem::path> workload_file{};
  /// A workload that was taken out of `json` and left null there, to be shared by the documents made from this one.
  std::shared_ptr<const Json> workload{};
  /// What was laid over each value of a list, of which a point has one.
  struct Spread {
    std::string file, place;
    std::string list;     ///< its pointer
    std::string value{};  ///< the point's, once it is taken
  };
  std::vector<Spread> spread{};
  /// Pointers of values that a reported fault left empty: what is missing at or below them is no news.
  std::vector<std::string> given_up{};
};

/// A part, and the folder in which one is found by bare name.
struct Shelf {
  std::string_view part, folder;
};
/// Of all parts that have one; scenarios lie beside these folders.
inline constexpr std::array kShelves = {Shelf{"workload", "workloads"}, Shelf{"profile", "profiles"},
                                        Shelf{"cluster", "clusters"}, Shelf{"strategy", "strategies"},
                                        Shelf{"compressor", "compressors"}};

/// Whether a pointer's token counts in a list.
bool is_index(std::string_view token);

/// Which other part than `part` has that name: of a file in one of these folders, or of a kind; "" where none has.
std::string part_named(const std::string& name, std::string_view part, std::span<const std::filesystem::path> folders);

/// What a part's file, or a part that was pasted from one, says to editors alone.
void forget_schema(Json& part);

/// True when `pointer` is `ancestor` or leads through it.
bool is_at_or_below(std::string_view pointer, std::string_view ancestor);

/// Parsed part files, each read once.
class PartFiles {
 public:
  /// `folder` (the scenario's) and `library` hold the folders workloads/, clusters/, strategies/ and
  /// compressors/ in which parts are found by bare name; scenarios lie in them directly.
  PartFiles(std::filesystem::path folder, std::filesystem::path library)
      : folder_(std::move(folder)), library_(std::move(library)) {}

  /// The file that `reference` means when written in `file` at the part `part` ("workload", "cluster", ...):
  /// a path ending in .json is relative to that file; a bare name is looked up beside it, beside the scenario,
  /// then in the library.
  /// @throws ScenarioError naming the known parts when there is none
  [[nodiscard]] std::filesystem::path find(std::string_view part, const std::string& reference, const std::string& file,
                                           const std::string& pointer) const;
  /// Whether `reference` names a kind of the part, such as "all-reduce", and no file: then it means one with defaults.
  [[nodiscard]] bool is_kind(std::string_view part, const std::string& reference, const std::string& file) const;
  /// @throws ScenarioError
  const Json& read(const std::filesystem::path& path);
  /// What all files read so far hold, one line each.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::filesystem::path search(std::string_view part, const std::string& reference,
                                             const std::string& file, const std::string& pointer) const;
  /// The file of a bare name.
  [[nodiscard]] std::optional<std::filesystem::path> shelved(std::string_view part, const std::string& reference,
                                                             const std::string& file) const;

  std::filesystem::path folder_, library_;
  std::map<std::string, Json> files_;
  mutable std::map<std::string, std::filesystem::path, std::less<>> found_;  ///< a study asks the same for every point
};

/// One `--set /json/pointer=value` (or a variant's "set" entry): where, what, and who said so.
struct Override {
  std::string pointer;
  Json value;
  std::string file;   ///< for faults
  std::string place;  ///< pointer inside `file`
};

/// Whether JSON can hold the text.
bool is_utf8(const std::string& text);

/// Parses "/json/pointer=value"; the value is JSON where it parses as such, otherwise text, unless it begins as
/// an object, a list or a quoted text.
/// @throws ScenarioError
Override parse_override(const std::string& text);

/// Writes the value into the document, creating objects on the way. A part, profile or network's variant given by
/// reference becomes {"from": reference} with the value laid over it; a strategy that is not there, the default one where
/// that has the field. Below the list of an axis each of its values gets it.
/// A workload that was taken out of the document is back in it where the pointer leads into it.
/// @throws ScenarioError when the pointer is malformed, empty, or leads through a value that is no object or list
void apply(const Override& change, Document& document);

/// Replaces the reference at the top, if there is one, as resolve_references does.
void resolve_scenario(Document& document, PartFiles& files, std::vector<Fault>& faults);

/// Replaces every reference of the scenario ("from" at the top, and each part given as text or with "from") by
/// the content of its file, with sibling keys laid over it; a part "from" a list of files by a list of such parts. A
/// workload referred to by plain text stays text and its path goes to workload_file, so that the points of a study
/// share one copy.
/// Faults (missing files, reference loops) are appended, and their parts become null and given up.
void resolve_references(Document& document, PartFiles& files, std::vector<Fault>& faults);

}  // namespace stepcast
