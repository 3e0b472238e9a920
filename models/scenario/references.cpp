#include "models/scenario/references.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kParts[] = {"workload", "cluster", "stack", "strategy", "compressor", "inner_compressor"};
constexpr std::string_view kTimedFor[] = {"batch", "dtype"};

}  // namespace

bool is_part(std::string_view pointer) {
  const auto is_named = [](std::string_view name) {
    return std::find(std::begin(kParts), std::end(kParts), name) != std::end(kParts);
  };
  if (pointer.empty()) return false;
  const auto slash = pointer.find('/', 1);
  return is_named(pointer.substr(1, slash == std::string_view::npos ? slash : slash - 1)) &&
         (slash == std::string_view::npos || is_index(pointer.substr(slash + 1)));
}

bool may_be_reference(const std::string& pointer) {
  constexpr std::string_view kPlaces[] = {"/workload",
                                          "/cluster",
                                          "/stack",
                                          "/strategy",
                                          "/compressor",
                                          "/inner_compressor",
                                          "/codec/device",
                                          "/workload/profile",
                                          "/workload/variant",
                                          "/workload/measured/profile",
                                          "/other_compressors/compressor"};
  const auto tokens = tokens_of(pointer);
  std::string place;
  for (const std::string& token : tokens.value_or(std::vector<std::string>{}))
    if (!is_index(token)) place += "/" + token;
  return std::find(std::begin(kPlaces), std::end(kPlaces), place) != std::end(kPlaces);
}

void keep_timing(Json& table, std::string_view key, const Json& value) {
  if (!table.is_object() || table.contains("from") ||
      std::find(std::begin(kTimedFor), std::end(kTimedFor), key) == std::end(kTimedFor))
    return;
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

namespace {

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
          {"", pointer, describe_value(value), fmt::format("a {}, because fields are laid over it", part), ""})});
    lay_over(value, over, pointer, written, document.origins);
  }
}

/// The file of a workload that is plain text. Empty if that file is itself a reference.
std::optional<fs::path> shared_workload(const Json& name, const Document& document, PartFiles& files) {
  const Fault at = document.origins.locate({"", "/workload", "", "", ""});
  const fs::path path = files.find("workload", name.get<std::string>(), at.file, at.pointer);
  const Json& content = files.read(path);
  if (is_reference(content)) return {};
  return path;
}

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
      follow(*found, part == "inner_compressor" ? "compressor" : part, pointer, document, files);
    });
  }
  const auto inside = [&](Json& object, const char* key, std::string_view part, const std::string& at) {
    if (!object.is_object() || !object.contains(key) || object[key].is_array()) return;
    const std::string pointer = pointer_to(at, key);
    forget_schema(object[key]);
    attempt(document, object[key], pointer, faults, [&] { follow(object[key], part, pointer, document, files); });
  };
  if (document.json.contains("codec")) inside(document.json["codec"], "device", "profile", "/codec");
  const auto others = document.json.find("other_compressors");
  if (others == document.json.end() || !others->is_array()) return;
  for (std::size_t i = 0; i < others->size(); ++i)
    inside((*others)[i], "compressor", "compressor", pointer_to("/other_compressors", i));
}

}  // namespace stepcast
