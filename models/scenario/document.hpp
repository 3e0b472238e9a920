// The JSON document behind a Scenario. It applies overrides and follows file references. For every pointer it records
// the source file and place, so that a fault names a place that its author can open.
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

/// The origins of the parts of a merged document.
class Origins {
 public:
  explicit Origins(std::string file) : places_{{"", std::move(file), ""}} {}

  /// Records that `pointer` and all values below it come from `place` in `file`.
  void add(std::string pointer, std::string file, std::string place);
  /// Records the origins that `others` has for `pointer` and the places below it.
  void add(const std::string& pointer, const Origins& others);
  /// Records that the value at `from` moved to `to`.
  void move(const std::string& from, const std::string& to);
  /// Converts a fault's pointer in the merged document to its original file and pointer.
  [[nodiscard]] Fault locate(Fault fault) const;
  /// The file that contains the value at `pointer`.
  [[nodiscard]] std::string file_of(std::string_view pointer) const;

  /// From `pointer` downwards, values come from `place` in `file`.
  struct Place {
    std::string pointer, file, place;
  };
  /// The changes below `pointer` from other sources than the author of the list around it.
  [[nodiscard]] std::vector<Place> changes_below(std::string_view pointer, std::string_view list) const;

 private:
  [[nodiscard]] const Place& place_of(std::string_view pointer) const;
  std::vector<Place> places_;
};

/// A JSON document with the origins of its parts.
struct Document {
  Json json;
  Origins origins;
  /// Set by resolve_references if the workload is plain text.
  std::optional<std::filesystem::path> workload_file{};
  /// A workload moved out of `json` (null there), shared by all documents made from this one.
  std::shared_ptr<const Json> workload{};
  /// A change to every value of a list. A point has one of these values.
  struct Spread {
    std::string file, place;
    std::string list;     ///< the pointer of the list
    std::string value{};  ///< label of the point's value, once it is chosen
  };
  std::vector<Spread> spread{};
  /// Pointers of values left empty by a reported fault. Missing values at or below them are not reported again.
  std::vector<std::string> given_up{};
};

/// A kind of part, and the folder that holds its files by bare name.
struct Shelf {
  std::string_view part, folder;
};
/// All parts that have a folder. Scenarios are beside these folders.
inline constexpr std::array kShelves = {Shelf{"workload", "workloads"}, Shelf{"profile", "profiles"},
                                        Shelf{"cluster", "clusters"}, Shelf{"strategy", "strategies"},
                                        Shelf{"compressor", "compressors"}};

/// Whether a token of a pointer is a list index.
bool is_index(std::string_view token);

/// The other part, besides `part`, with a file in one of these folders or a kind of that name; "" if there is none.
std::string part_named(const std::string& name, std::string_view part, std::span<const std::filesystem::path> folders);

/// Removes the fields of a part's file that only editors use, also from a pasted part.
void forget_schema(Json& part);

/// Returns true if `pointer` is `ancestor` or below it.
bool is_at_or_below(std::string_view pointer, std::string_view ancestor);

/// Parsed part files. Each file is read once.
class PartFiles {
 public:
  /// `folder` (the scenario's) and `library` contain the folders workloads/, clusters/, strategies/ and compressors/
  /// for parts with a bare name. Scenarios are directly in them.
  PartFiles(std::filesystem::path folder, std::filesystem::path library)
      : folder_(std::move(folder)), library_(std::move(library)) {}

  /// The file of `reference`, which `file` uses for the part `part` ("workload", "cluster", ...). A path ending in
  /// .json is relative to that file. A bare name is searched beside the file, then beside the scenario, then in the
  /// library.
  /// @throws ScenarioError with the known parts when there is no such file
  [[nodiscard]] std::filesystem::path find(std::string_view part, const std::string& reference, const std::string& file,
                                           const std::string& pointer) const;
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
  mutable std::map<std::string, std::filesystem::path, std::less<>> found_;  ///< cache: a study repeats the question
};

/// One `--set /json/pointer=value` (or an entry of a variant's "set"): pointer, value and origin.
struct Override {
  std::string pointer;
  Json value;
  std::string file;   ///< for faults
  std::string place;  ///< pointer inside `file`
};

/// Whether JSON can contain the text.
bool is_utf8(const std::string& text);

/// Parses "/json/pointer=value". The value is JSON if it parses as JSON, otherwise text. Text may not begin like an
/// object, a list or a quoted text.
/// @throws ScenarioError
Override parse_override(const std::string& text);

/// Writes the value into the document and creates missing objects on the path. A part, profile or variant given by
/// reference becomes {"from": reference} plus the value. A missing strategy becomes the default strategy if that has
/// the field. Below the list of an axis, each of its values gets the change. If the pointer leads into a workload
/// outside the document, the workload returns to it.
/// @throws ScenarioError when the pointer is malformed, empty, or leads through a value that is not an object or list
void apply(const Override& change, Document& document);

/// Replaces a reference at the top of the document, as resolve_references does.
void resolve_scenario(Document& document, PartFiles& files, std::vector<Fault>& faults);

/// Replaces every reference of the scenario ("from" at the top, and each part given as text
/// or with "from") by the content of its file. Sibling keys are merged into it. A part
/// "from" a list of files becomes a list of parts. A workload that is plain text stays
/// text; its path goes to workload_file, so the points of a study share one copy. Faults
/// (missing files, reference loops) are appended. Their parts become null and given up.
void resolve_references(Document& document, PartFiles& files, std::vector<Fault>& faults);

}  // namespace stepcast
