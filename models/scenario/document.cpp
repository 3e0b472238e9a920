#include "models/scenario/document.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepcast {
namespace {

constexpr std::string_view kParts[] = {"workload", "cluster", "strategy", "compressor"};

bool is_below(std::string_view pointer, std::string_view ancestor) {
  return pointer.substr(0, ancestor.size()) == ancestor && (pointer.size() == ancestor.size() || pointer[ancestor.size()] == '/');
}

/// Lays `over` on `base`: objects merge key by key, anything else replaces. An object whose "kind" changes
/// replaces as a whole, since its old keys mean nothing under the new kind.
void lay_over(Json& base, const Json& over, const std::string& pointer, const Origins& written, Origins& origins) {
  const bool other_kind = over.is_object() && over.contains("kind") && base.is_object() && base.contains("kind") && base["kind"] != over["kind"];
  if (!base.is_object() || !over.is_object() || other_kind) {
    base = over;
    const Fault at = written.locate({"", pointer, "", "", ""});
    origins.add(pointer, at.file, at.pointer);
    return;
  }
  for (const auto& [key, value] : over.items()) lay_over(base[key], value, pointer_to(pointer, key), written, origins);
}

/// Follows the reference at `pointer`, and those in the file it names, until the value holds no reference.
void follow(Json& value, std::string_view part, const std::string& pointer, Document& document, PartFiles& files) {
  std::vector<std::string> visited{document.origins.file_of(pointer)};
  while (true) {
    const bool text = value.is_string();
    const bool from = value.is_object() && value.contains("from");
    if (!text && !from) return;
    const Json& reference = text ? value : value["from"];
    const std::string at = text ? pointer : pointer_to(pointer, "from");
    if (!reference.is_string())
      throw ScenarioError({document.origins.locate({"", at, describe_value(reference), "the name or path of a file", ""})});
    const auto path = files.find(part, reference.get<std::string>(), document.origins.file_of(at), document.origins.locate({"", at, "", "", ""}).pointer);
    if (std::find(visited.begin(), visited.end(), path.string()) != visited.end())
      throw ScenarioError({document.origins.locate({"", at, fmt::format("a reference loop ({} leads back to itself)", path.string()), "references that end", "remove one of the references"})});
    visited.push_back(path.string());

    Json over = Json::object();
    if (from) {
      over = value;
      over.erase("from");
    }
    const Origins written = document.origins;
    value = files.read(path);
    document.origins.add(pointer, path.string(), "");
    for (const auto& [key, field] : over.items()) {
      if (!value.is_object()) break;  // the file is itself a reference; what is laid over it comes after
      lay_over(value[key], field, pointer_to(pointer, key), written, document.origins);
    }
    if (value.is_string() && !over.empty()) {
      over["from"] = value;
      value = over;
    }
  }
}

}  // namespace

void Origins::add(std::string pointer, std::string file, std::string place) {
  std::erase_if(places_, [&](const Place& old) { return is_below(old.pointer, pointer); });
  places_.push_back({std::move(pointer), std::move(file), std::move(place)});
}

const Origins::Place& Origins::place_of(std::string_view pointer) const {
  const Place* best = nullptr;
  for (const Place& place : places_)
    if (is_below(pointer, place.pointer) && (!best || place.pointer.size() >= best->pointer.size())) best = &place;
  return best ? *best : places_.front();
}

Fault Origins::locate(Fault fault) const {
  const Place& place = place_of(fault.pointer);
  fault.file = place.file;
  fault.pointer = place.place + (fault.pointer.size() > place.pointer.size() ? fault.pointer.substr(place.pointer.size()) : "");
  return fault;
}

std::string Origins::file_of(std::string_view pointer) const { return place_of(pointer).file; }

std::filesystem::path PartFiles::find(std::string_view part, const std::string& reference, const std::string& file, const std::string& pointer) const {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(file).parent_path();
  std::error_code error;
  if (reference.ends_with(".json")) {
    const fs::path path = (folder / reference).lexically_normal();
    if (fs::exists(path, error)) return path;
    throw ScenarioError({{file, pointer, fmt::format("\"{}\", but there is no file {}", reference, path.string()), "an existing JSON file",
                          "paths are relative to the file that names them"}});
  }
  std::vector<std::string> known;
  for (const fs::path& root : {folder, library_}) {
    const fs::path shelf = root / fmt::format("{}s", part);
    if (const fs::path path = shelf / (reference + ".json"); fs::exists(path, error)) return path.lexically_normal();
    for (const auto& entry : fs::directory_iterator(shelf, error))
      if (entry.path().extension() == ".json") known.push_back(entry.path().stem().string());
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const std::string near = nearest(reference, known);
  throw ScenarioError({{file, pointer, fmt::format("the unknown {} \"{}\"", part, reference), known.empty() ? "a path ending in .json" : fmt::format("{}, or a path ending in .json", fmt::join(known, ", ")),
                        near.empty() ? "" : fmt::format("did you mean \"{}\"?", near)}});
}

const Json& PartFiles::read(const std::filesystem::path& path) {
  const auto [entry, is_new] = files_.try_emplace(path.string());
  if (is_new) {
    entry->second = read_json(path);
    if (entry->second.is_object()) entry->second.erase("$schema");
  }
  return entry->second;
}

Override parse_override(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || text.empty() || text.front() != '/')
    throw ScenarioError({{"--set", "", fmt::format("\"{}\"", text), "/json/pointer=value, such as /cluster/workers=64", ""}});
  const std::string pointer = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  Json json = Json::parse(value, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) json = value;
  return {pointer, std::move(json), "--set " + pointer, ""};
}

void apply(const Override& change, Document& document) {
  const auto fault = [&](const std::string& found) {
    return ScenarioError({{change.file, change.place, found, "the JSON pointer of a field, such as /cluster/workers", ""}});
  };
  Json* value = &document.json;
  try {
    Json::json_pointer rest(change.pointer);
    std::vector<std::string> tokens;
    for (; !rest.empty(); rest.pop_back()) tokens.push_back(rest.back());
    std::string here;
    for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
      if (value->is_string()) *value = Json::object({{"from", *value}});
      if (value->is_array()) {
        std::size_t index = 0;
        const bool digits = !token->empty() && token->size() < 7 && std::all_of(token->begin(), token->end(), [](char c) { return c >= '0' && c <= '9'; });
        if (digits) index = std::stoul(*token);
        if (!digits || index >= value->size()) throw fault(fmt::format("\"{}\", where {} is {}", change.pointer, here, describe_value(*value)));
        value = &(*value)[index];
      } else if (value->is_object() || value->is_null()) {
        value = &(*value)[*token];
      } else {
        throw fault(fmt::format("\"{}\", where {} is {}", change.pointer, here, describe_value(*value)));
      }
      here = pointer_to(here, *token);
    }
  } catch (const Json::exception&) {
    throw fault(fmt::format("the malformed pointer \"{}\"", change.pointer));
  }
  *value = change.value;
  document.origins.add(change.pointer, change.file, change.place);
}

std::vector<Fault> resolve_references(Document& document, PartFiles& files) {
  if (document.json.is_object() && document.json.contains("from")) follow(document.json, "scenario", "", document, files);
  std::vector<Fault> faults;
  if (!document.json.is_object()) return faults;
  for (const std::string_view part : kParts) {
    const auto found = document.json.find(std::string(part));
    const bool failed_before = std::find(document.unresolved.begin(), document.unresolved.end(), part) != document.unresolved.end();
    if (found == document.json.end() || found->is_array() || failed_before) continue;
    const std::string pointer = pointer_to("", part);
    if (part == "workload") document.workload_file.reset();
    try {
      if (part == "workload" && found->is_string()) {
        document.workload_file = files.find(part, found->get<std::string>(), document.origins.file_of(pointer), document.origins.locate({"", pointer, "", "", ""}).pointer);
      } else {
        follow(*found, part, pointer, document, files);
      }
    } catch (const ScenarioError& error) {
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
      document.unresolved.emplace_back(part);
    }
  }
  return faults;
}

}  // namespace stepcast
