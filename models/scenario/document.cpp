#include "models/scenario/document.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/describe.hpp"
#include "models/describe/other_words.hpp"
#include "models/describe/writer.hpp"
#include "models/scenario/fields.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scenario/scenario_axes.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kParts[] = {"workload", "cluster", "strategy", "compressor"};

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

/// Returns true for "/workload" and, in a list of workloads, for "/workload/2".
bool is_part(std::string_view pointer) {
  const auto is_named = [](std::string_view name) {
    return std::find(std::begin(kParts), std::end(kParts), name) != std::end(kParts);
  };
  if (pointer.empty()) return false;
  const auto slash = pointer.find('/', 1);
  return is_named(pointer.substr(1, slash == std::string_view::npos ? slash : slash - 1)) &&
         (slash == std::string_view::npos || is_index(pointer.substr(slash + 1)));
}

/// Returns true if a text at this pointer is a reference whose target can get other fields. This applies to parts,
/// profiles and a network's variant, also inside lists.
bool may_be_reference(const std::string& pointer) {
  constexpr std::string_view kPlaces[] = {
      "/workload",     "/cluster",          "/strategy",         "/compressor",
      "/codec/device", "/workload/profile", "/workload/variant", "/workload/measured/profile"};
  const auto tokens = tokens_of(pointer);
  std::string place;
  for (const std::string& token : tokens.value_or(std::vector<std::string>{}))
    if (!is_index(token)) place += "/" + token;
  return std::find(std::begin(kPlaces), std::end(kPlaces), place) != std::end(kPlaces);
}

/// Given times do not follow batch and dtype. Before a change of either, the layer table records the value that its
/// times belong to.
void keep_timing(Json& table, std::string_view key, const Json& value) {
  if (!table.is_object() || table.contains("from")) return;
  const std::string timed = fmt::format("timed_{}", key);
  if (!table.contains("layers") && !table.contains("gradients"))
    return;  // no table yet, or a transformer, whose times follow
  Json before = key == "dtype" ? Json(name_of(WorkloadTable{}.dtype)) : Json();
  if (const auto own = table.find(std::string(key)); own != table.end()) before = *own;
  if (before.is_null() || before.is_structured() || before == value || table.contains(timed)) return;
  if (const auto layers = table.find("layers"); layers != table.end() && layers->is_array() && !layers->empty() &&
                                                layers->front().is_object() && layers->front().contains("shape"))
    return;
  table[timed] = std::move(before);
}
constexpr std::string_view kTimedFor[] = {"batch", "dtype"};

/// Merges `over` into `base`: objects merge key by key, any other value replaces the old one. If an object's "kind"
/// changes, it replaces the old object as a whole, since the old keys have no meaning under the new kind. Profile
/// fields without a name do not form a profile; they merge into the profile that a name refers to.
void lay_over(Json& base, const Json& over, const std::string& pointer, const Origins& written, Origins& origins) {
  const bool is_profile = pointer == "/workload/profile" || pointer == "/workload/measured/profile";
  if (is_profile && base.is_string() && over.is_object() && !over.contains("name"))
    base = Json::object({{"from", base}});
  const bool other_kind = over.is_object() && over.contains("kind") && base.is_object() && base.contains("kind") &&
                          base["kind"] != over["kind"];
  if (!base.is_object() || !over.is_object() || other_kind) {
    base = over;
    origins.add(pointer, written);
    return;
  }
  if (pointer == "/workload")
    for (const std::string_view key : kTimedFor)
      if (const auto value = over.find(std::string(key)); value != over.end()) keep_timing(base, key, *value);
  for (const auto& [key, value] : over.items()) lay_over(base[key], value, pointer_to(pointer, key), written, origins);
}

bool is_reference(const Json& value) { return value.is_string() || (value.is_object() && value.contains("from")); }

/// Follows the reference at `pointer` and the references in its file, until the value has none.
void follow(Json& value, std::string_view part, const std::string& pointer, Document& document, PartFiles& files) {
  if (!is_reference(value)) return;
  std::error_code error;
  std::vector<fs::path> visited{fs::weakly_canonical(document.origins.file_of(pointer), error)};
  while (is_reference(value)) {
    const bool text = value.is_string();
    const bool from = !text;
    const Json& reference = text ? value : value["from"];
    const std::string at = text ? pointer : pointer_to(pointer, "from");
    if (!reference.is_string())
      throw ScenarioError(
          {document.origins.locate({"", at, describe_value(reference), "the name or path of a file", ""})});
    const auto name = reference.get<std::string>();
    Json over = Json::object();
    if (from) {
      over = value;
      over.erase("from");
    }
    const Origins written = document.origins;
    if (files.is_kind(part, name, document.origins.file_of(at))) {
      value = Json::object({{"kind", name}});
    } else {
      const auto path =
          files.find(part, name, document.origins.file_of(at), document.origins.locate({"", at, "", "", ""}).pointer);
      const auto real_path = fs::weakly_canonical(path, error);
      if (std::find(visited.begin(), visited.end(), real_path) != visited.end())
        throw ScenarioError(
            {document.origins.locate({"", at, fmt::format("a reference loop ({} leads back to itself)", path.string()),
                                      "references that end", "remove one of the references"})});
      visited.push_back(real_path);
      value = files.read(path);
      document.origins.add(pointer, path.string(), "");
    }
    if (over.empty()) continue;
    // The file may itself be a reference. Then this merges into the target of that reference.
    if (value.is_string()) value = Json::object({{"from", value}});
    if (!value.is_object())
      throw ScenarioError({document.origins.locate(
          {"", pointer, describe_value(value), fmt::format("a {}, since fields are laid over it", part), ""})});
    lay_over(value, over, pointer, written, document.origins);
  }
}

/// Converts a part with a list of files to a list of parts: {"from": [a, b], ...} becomes [{"from": a, ...}, ...].
void list_files(Json& value, const std::string& pointer, Document& document) {
  if (!value.is_object() || !value.contains("from") || !value["from"].is_array()) return;
  Origins& origins = document.origins;
  const Fault top = origins.locate({"", pointer, "", "", ""});
  for (const auto& [key, unused] : value.items()) {
    const Fault at = origins.locate({"", pointer_to(pointer, key), "", "", ""});
    if (key != "from") document.spread.push_back({at.file, at.pointer, pointer});
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < value["from"].size(); ++i) {
    Json one = value;
    one["from"] = value["from"][i];
    const std::string own = pointer_to(pointer, i);
    origins.add(own, top.file, top.pointer);
    for (const auto& [key, unused] : value.items())
      origins.move(key == "from" ? pointer_to(pointer_to(pointer, key), i) : pointer_to(pointer, key),
                   pointer_to(own, key));
    list.push_back(std::move(one));
  }
  value = std::move(list);
}

/// The file of a workload that is plain text. Empty if that file is itself a reference.
std::optional<fs::path> shared_workload(const Json& name, const Document& document, PartFiles& files) {
  const Fault at = document.origins.locate({"", "/workload", "", "", ""});
  const fs::path path = files.find("workload", name.get<std::string>(), at.file, at.pointer);
  const Json& content = files.read(path);
  if (is_reference(content)) return {};
  return path;
}

}  // namespace

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

bool is_index(std::string_view token) {
  return !token.empty() && token.size() < 7 && (token.size() == 1 || token.front() != '0') &&
         std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
}

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

bool is_at_or_below(std::string_view pointer, std::string_view ancestor) {
  return pointer.substr(0, ancestor.size()) == ancestor &&
         (pointer.size() == ancestor.size() || pointer[ancestor.size()] == '/');
}

void Origins::add(std::string pointer, std::string file, std::string place) {
  std::erase_if(places_, [&](const Place& old) { return is_at_or_below(old.pointer, pointer); });
  places_.push_back({std::move(pointer), std::move(file), std::move(place)});
}

void Origins::add(const std::string& pointer, const Origins& others) {
  const Fault top = others.locate({"", pointer, "", "", ""});
  add(pointer, top.file, top.pointer);
  for (const Place& place : others.places_)
    if (place.pointer != pointer && is_at_or_below(place.pointer, pointer)) places_.push_back(place);
}

void Origins::move(const std::string& from, const std::string& to) {
  const Fault top = locate({"", from, "", "", ""});
  std::vector<Place> moved;
  for (const Place& place : places_)
    if (place.pointer != from && is_at_or_below(place.pointer, from))
      moved.push_back({to + place.pointer.substr(from.size()), place.file, place.place});
  add(to, top.file, top.pointer);
  places_.insert(places_.end(), moved.begin(), moved.end());
}

const Origins::Place& Origins::place_of(std::string_view pointer) const {
  const Place* best = nullptr;
  for (const Place& place : places_)
    if (is_at_or_below(pointer, place.pointer) && (!best || place.pointer.size() >= best->pointer.size()))
      best = &place;
  return best ? *best : places_.front();
}

Fault Origins::locate(Fault fault) const {
  const Place& place = place_of(fault.pointer);
  fault.file = place.file;
  fault.pointer =
      place.place + (fault.pointer.size() > place.pointer.size() ? fault.pointer.substr(place.pointer.size()) : "");
  return fault;
}

std::string Origins::file_of(std::string_view pointer) const { return place_of(pointer).file; }

std::vector<Origins::Place> Origins::changes_below(std::string_view pointer, std::string_view list) const {
  const Fault top = locate({"", std::string(list), "", "", ""});
  std::vector<Place> changes;
  for (const Place& place : places_)
    if (place.pointer != pointer && is_at_or_below(place.pointer, pointer) &&
        (place.file != top.file || !is_at_or_below(place.place, top.pointer)))
      changes.push_back(place);
  return changes;
}

std::filesystem::path PartFiles::find(std::string_view part, const std::string& reference, const std::string& file,
                                      const std::string& pointer) const {
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
                    meant = part_meant(reference, kinds);
  std::string remedy;
  const std::string other = part_named(reference, part, std::array{folder, folder_, library_});
  if (!other.empty()) remedy = fmt::format("that is a {}", other);
  else if (!near.empty()) remedy = fmt::format("did you mean \"{}\"?", near);
  else if (!meant.empty()) remedy = fmt::format("did you mean {}?", meant);
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

Override parse_override(const std::string& text) {
  const auto equals = text.find('=');
  const std::string shown = describe_value(text);
  if (equals == std::string::npos || text.front() != '/')
    throw ScenarioError({{"--set", "", shown, "/json/pointer=value, such as /cluster/workers=64", ""}});
  if (!is_utf8(text)) throw ScenarioError({{"--set", "", shown, "UTF-8", ""}});
  const std::string pointer = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  Json json;
  try {
    json = parse_json(value, "--set " + pointer);
  } catch (const ScenarioError&) {
    const auto first = value.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && std::string_view("{[\"").find(value[first]) != std::string_view::npos) throw;
    json = value;
  }
  return {pointer, std::move(json), "--set", pointer};
}

namespace {

/// The kind of the default strategy if it has the field; null otherwise.
Json default_strategy_with(const std::string& field) {
  const Json strategy = write_value(ScenarioFields{}.strategy.value);
  return strategy.contains(field) ? Json{{"kind", strategy["kind"]}} : Json();
}

bool is_workload(std::string_view pointer) { return pointer.starts_with("/workload") && is_part(pointer); }

/// The number of bytes of a pointer that a fault shows.
constexpr std::size_t kShownPointer = 400;

/// Writes a change into a document, walking down its pointer.
class Writing {
 public:
  Writing(const Override& change, Document& document) : change_(change), document_(document) {
    if (change.pointer.empty()) throw fault("an empty pointer");
    const auto tokens = tokens_of(change.pointer);
    if (!tokens) throw fault(fmt::format("the malformed pointer \"{}\"", shorten(change.pointer, kShownPointer)));
    tokens_ = *tokens;
    if (tokens_.size() > static_cast<std::size_t>(kMaxDepth))
      throw ScenarioError(
          {{change.file, shorten(change.place, kShownPointer), fmt::format("a pointer of {} levels", tokens_.size()),
            fmt::format("at most {} levels", kMaxDepth), ""}});
  }

  void write() { write(document_.json, "", tokens_, ""); }

 private:
  /// @param here  the pointer of `value`
  /// @param made  the topmost newly created value on the path; empty: none
  void write(Json& value, const std::string& here, std::span<const std::string> tokens, std::string made) {
    if (tokens.empty()) return set(value, here, made);
    const std::string& token = tokens.front();
    if (is_part(here) && is_index(token)) list_files(value, here, document_);
    if (value.is_string() && may_be_reference(here)) value = Json::object({{"from", value}});
    if (is_workload(here) && std::find(std::begin(kTimedFor), std::end(kTimedFor), token) != std::end(kTimedFor))
      keep_timing(value, token, change_.value);
    if (value.is_array() && is_padded(token))
      throw fault(fmt::format("the index {} in \"{}\"", shorten(token), shorten(change_.pointer, kShownPointer)),
                  "a number without zeros before it (RFC 6901)");
    if (value.is_array() && !is_index(token) && is_axis(here)) {
      document_.spread.push_back({change_.file, change_.place, here});
      for (std::size_t i = 0; i < value.size(); ++i) write(value[i], pointer_to(here, i), tokens, made);
      return;
    }
    const std::string below = pointer_to(here, token);
    if (value.is_null() && made.empty()) made = here;
    if (value.is_null() && here == "/strategy") value = default_strategy_with(token);
    if (value.is_object() && !value.contains(token) && made.empty()) made = below;
    if (value.is_array() && is_index(token) && std::stoul(token) < value.size())
      return write(value[std::stoul(token)], below, tokens.subspan(1), std::move(made));
    if (value.is_object() || value.is_null()) return write(value[token], below, tokens.subspan(1), std::move(made));
    throw fault(fmt::format("\"{}\", where {} is {}", shorten(change_.pointer, kShownPointer),
                            here.empty() ? "the document" : here, describe_value(value)));
  }

  void set(Json& value, const std::string& here, const std::string& made) {
    value = change_.value;
    // For --set, the place is the pointer itself, so the place of its beginning is known, too. Objects that an option
    // or a variant's change creates keep the document's origin: the change does not cover their other fields.
    if (const std::string rest = here.substr(made.size()); !made.empty() && change_.place.ends_with(rest))
      document_.origins.add(made, change_.file, change_.place.substr(0, change_.place.size() - rest.size()));
    document_.origins.add(here, change_.file, change_.place);
  }

  [[nodiscard]] bool is_axis(const std::string& pointer) const {
    const auto axes = scenario_axes(document_.json);
    return std::find(axes.begin(), axes.end(), pointer) != axes.end();
  }

  /// Text such as "00", which is not an index.
  static bool is_padded(const std::string& token) {
    return token.size() > 1 && token.front() == '0' && token.find_first_not_of("0123456789") == std::string::npos;
  }

  [[nodiscard]] ScenarioError fault(
      const std::string& found,
      const std::string& allowed = "the JSON pointer of a field, such as /cluster/workers") const {
    return ScenarioError({{change_.file, shorten(change_.place, kShownPointer), found, allowed, ""}});
  }

  const Override& change_;
  Document& document_;
  std::vector<std::string> tokens_;
};

}  // namespace

void apply(const Override& change, Document& document) {
  Writing writing(change, document);
  if (document.workload && is_at_or_below(change.pointer, "/workload")) {
    document.json["workload"] = *document.workload;
    document.workload.reset();
  }
  writing.write();
}

namespace {

/// Resolves one value. If this fails, the value becomes null and is given up.
template <class How>
void attempt(Document& document, Json& value, const std::string& pointer, std::vector<Fault>& faults, const How& how) {
  try {
    how();
  } catch (const ScenarioError& error) {
    faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    value = nullptr;
    document.given_up.push_back(pointer);
  }
}

}  // namespace

void resolve_scenario(Document& document, PartFiles& files, std::vector<Fault>& faults) {
  if (document.json.is_object() && document.json.contains("from"))
    attempt(document, document.json, "", faults, [&] { follow(document.json, "scenario", "", document, files); });
}

void resolve_references(Document& document, PartFiles& files, std::vector<Fault>& faults) {
  resolve_scenario(document, files, faults);
  if (!document.json.is_object()) return;
  for (const std::string_view part : kParts) {
    const auto found = document.json.find(std::string(part));
    if (found == document.json.end()) continue;
    const std::string pointer = pointer_to("", part);
    list_files(*found, pointer, document);
    if (found->is_array()) continue;
    forget_schema(*found);
    attempt(document, *found, pointer, faults, [&] {
      if (part == "workload") {
        document.workload_file.reset();
        if (found->is_string()) document.workload_file = shared_workload(*found, document, files);
        if (document.workload_file) return;
      }
      follow(*found, part, pointer, document, files);
    });
  }
  const auto codec = document.json.find("codec");
  if (codec == document.json.end() || !codec->is_object() || !codec->contains("device") ||
      (*codec)["device"].is_array())
    return;
  Json& device = (*codec)["device"];
  forget_schema(device);
  attempt(document, device, "/codec/device", faults,
          [&] { follow(device, "profile", "/codec/device", document, files); });
}

}  // namespace stepcast
