#include "models/scenario/part_files.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/compressor/compressor.hpp"
#include "models/describe/describe.hpp"
#include "models/describe/json.hpp"
#include "models/describe/other_words.hpp"
#include "models/part/strategy.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

std::string_view shelf_of(std::string_view part) {
  for (const Shelf& shelf : kShelves)
    if (shelf.part == part) return shelf.folder;
  return "";  // a scenario has no shelf
}

/// The kinds of a part that people may write as a plain name: "strategy": "all-reduce".
std::vector<std::string> kinds_of_part(std::string_view part) {
  if (part == "strategy") return kinds_of<Strategy>();
  if (part == "compressor") return kinds_of<Compressor>();
  return {};
}

}  // namespace

std::string part_named(const std::string& name, std::string_view part, std::span<const fs::path> folders) {
  std::error_code error;
  if (name.empty() || name.find('\0') != std::string::npos || name.find('/') != std::string::npos) return "";
  for (const Shelf& shelf : kShelves) {
    if (shelf.part == part) continue;
    const auto has = [&](const fs::path& folder) {
      return fs::exists(folder / shelf.folder / (name + ".json"), error);
    };
    const auto kinds = kinds_of_part(shelf.part);
    if (std::any_of(folders.begin(), folders.end(), has) || std::find(kinds.begin(), kinds.end(), name) != kinds.end())
      return std::string(shelf.part);
  }
  return "";
}

void forget_schema(Json& part) {
  if (part.is_object()) part.erase("$schema");
}

std::filesystem::path PartFiles::find(std::string_view part, const std::string& reference, const std::string& file,
                                      const std::string& pointer) {
  const std::string question = fmt::format("{}\n{}\n{}", part, file, reference);
  if (const auto known = found_.find(question); known != found_.end()) return known->second;
  return found_.emplace(question, search(part, reference, file, pointer)).first->second;
}

std::optional<fs::path> PartFiles::shelved(std::string_view part, const std::string& reference,
                                           const std::string& file) const {
  if (reference.empty() || reference.find('\0') != std::string::npos) return {};
  std::error_code error;
  for (const fs::path& root : {fs::path(file).parent_path(), folder_, library_})
    if (const fs::path path = root / shelf_of(part) / (reference + ".json"); fs::exists(path, error))
      return path.lexically_normal();
  return {};
}

bool PartFiles::is_kind(std::string_view part, const std::string& reference, const std::string& file) const {
  const auto kinds = kinds_of_part(part);
  return std::find(kinds.begin(), kinds.end(), reference) != kinds.end() && !shelved(part, reference, file);
}

std::filesystem::path PartFiles::search(std::string_view part, const std::string& reference, const std::string& file,
                                        const std::string& pointer) const {
  const fs::path folder = fs::path(file).parent_path();
  std::error_code error;
  const bool usable = reference.find('\0') == std::string::npos;
  if (reference.ends_with(".json") && usable) {
    const fs::path path = (folder / reference).lexically_normal();
    if (fs::exists(path, error)) return path;
    throw ScenarioError(
        {{file, pointer,
          fmt::format("\"{}\", but there is no file {}", shorten(reference), shorten(path.string(), 200)),
          "an existing JSON file",
          file.starts_with("--") ? "paths on the command line are relative to the working folder"
                                 : "paths are relative to the file that names them"}});
  }
  if (const auto path = shelved(part, reference, file)) return *path;
  std::vector<std::string> known;
  for (const fs::path& root : {folder, folder_, library_}) {
    const fs::path shelf = root / shelf_of(part);
    for (const auto& entry : fs::directory_iterator(shelf.empty() ? "." : shelf, error))
      if (entry.path().extension() == ".json" && !entry.path().stem().string().ends_with(".schema"))
        known.push_back(entry.path().stem().string());
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const auto kinds = kinds_of_part(part);
  std::string allowed = fmt::format("{}{}a path ending in .json", fmt::join(known, ", "), known.empty() ? "" : ", or ");
  if (!kinds.empty()) allowed += fmt::format(", or one of {}, or an object with that \"kind\"", fmt::join(kinds, ", "));
  const std::string near = name_here(reference, kinds) ? "" : nearest(reference, known),
                    meant = kind_meant(reference, kinds);
  std::string remedy;
  const std::string other = part_named(reference, part, std::array{folder, folder_, library_});
  if (!meant.empty()) remedy = fmt::format("did you mean {}?", meant);
  else if (!other.empty()) remedy = fmt::format("that is a {}", other);
  else if (!near.empty()) remedy = fmt::format("did you mean \"{}\"?", near);
  throw ScenarioError(
      {{file, pointer, fmt::format("the unknown {} \"{}\"", part, shorten(reference)), allowed, remedy}});
}

const Json& PartFiles::read(const std::filesystem::path& path) {
  if (const auto known = files_.find(path.string()); known != files_.end()) return known->second;
  Json content = read_json(path);
  forget_schema(content);
  return files_.emplace(path.string(), std::move(content)).first->second;
}

std::string PartFiles::text() const {
  std::string text;
  for (const auto& [path, content] : files_) text += content.dump() + "\n";
  return text;
}

}  // namespace stepcast
