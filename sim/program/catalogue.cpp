#include "sim/program/catalogue.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/collective/collective.hpp"
#include "models/describe/note.hpp"
#include "models/scenario/part_files.hpp"
#include "models/scenario/part_json.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/study/part_file.hpp"
#include "models/study/suite.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

/// A part's description, besides its defaults: fields without a default, and the meaning of each named choice.
struct DescribedFields {
  Json required_fields = Json::array(), choices = Json::object();

  template <class T>
  void required(const char* name, T& x, const char* meaning, Limits limits = {}) {
    required_fields.push_back(name);
    optional(name, x, meaning, limits);
  }
  template <class T>
  void optional(const char* name, T& x, const char*, Limits = {}) {
    if constexpr (Named<T>) {
      for (const auto& choice : Choices<T>::table) choices[name][std::string(choice.name)] = choice.meaning;
    } else if constexpr (Described<T>) {
      DescribedFields inner;
      T::describe(inner, x);
      if (!inner.choices.empty()) choices[name] = std::move(inner.choices);
    }
  }
};

template <class Part>
Json details_of(Json defaults) {
  Part part{};
  DescribedFields fields;
  Part::describe(fields, part);
  for (const Json& name : fields.required_fields) defaults.erase(name.get<std::string>());
  Json details = Json::object();
  if (!fields.required_fields.empty()) details["required"] = fields.required_fields;
  details["defaults"] = std::move(defaults);
  if (!fields.choices.empty()) details["choices"] = std::move(fields.choices);
  return details;
}

template <class Variant>
void add_kinds(std::vector<CatalogueEntry>& entries, const char* shelf) {
  for_each_part(static_cast<const Variant*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
    entries.push_back(
        {shelf, std::string(Part::kind), std::string(Part::meaning), details_of<Part>(write_value(Variant(Part{})))});
  });
}

void add_algorithms(std::vector<CatalogueEntry>& entries) {
  for (const CollectiveAlgorithm& entry : collective_algorithms()) {
    std::string_view meaning;
    for (const auto& choice : Choices<Algorithm>::table)
      if (choice.value == entry.algorithm) meaning = choice.meaning;
    entries.push_back({"algorithms", fmt::format("{}/{}", name_of(entry.operation), name_of(entry.algorithm)),
                       std::string(meaning),
                       Json{{"operation", name_of(entry.operation)},
                            {"algorithm", name_of(entry.algorithm)},
                            {"time", entry.formula},
                            {"source", entry.source}}});
  }
}

Json summary(const WorkloadTable& table) {
  const Workload w = make_workload(table);
  std::int64_t parameters = 0;
  for (const Gradient& g : w.gradients) parameters += g.elements;
  Json json{{"name", table.name},
            {"description", table.description},
            {"source", table.source},
            {"batch", table.batch},
            {"accumulation", table.accumulation},
            {"sample", table.sample},
            {"dtype", name_of(table.dtype)},
            {"parameters", parameters},
            {"gradient_tensors", w.gradients.size()},
            {"gradient_bytes", exact_text(w.gradient_bytes)}};
  if (gives_shapes(table)) return json;  // shown layer by layer (layer_table.hpp); times need a profile
  for (const auto& [key, time] :
       {std::pair{"forward", w.forward}, {"backward", w.backward}, {"update", w.update}, {"compute", w.compute()}})
    json[key] = exact_text(time);
  return json;
}

/// The meaning of a strategy's or compressor's kind; "" for other parts.
std::string meaning_of_kind(const std::string& shelf, const std::string& kind) {
  std::string meaning;
  const auto find = [&]<class Variant>(const Variant* of) {
    for_each_part(of, [&]<class Part>(std::in_place_type_t<Part>) {
      if (kind == Part::kind) meaning = Part::meaning;
    });
  };
  if (shelf == "strategies") find(static_cast<const Strategy*>(nullptr));
  else if (shelf == "compressors") find(static_cast<const Compressor*>(nullptr));
  return meaning;
}

/// One line about a part: its description, or else its name, or else the meaning of its kind.
std::string meaning_of(const std::string& shelf, const Json& part) {
  const Json& named = shelf == "compressors" && part.contains("method") ? part["method"] : part;
  for (const char* field : {"description", "name"})
    if (std::string text = text_at(named, field); !text.empty()) return text;
  return meaning_of_kind(shelf, text_at(part, "kind"));
}

/// The entry's text, from a file's content.
CatalogueEntry entry_of(const std::string& shelf, Json json, const fs::path& file, const fs::path& library) {
  const std::string name = file.stem().string();
  if (shelf == "workloads") {
    const WorkloadTable table = resolve_workload_file(std::move(json), file, Json::object(), library);
    return {shelf, name, table.description, summary(table)};
  }
  if (!json.is_object()) throw ScenarioError({{file.string(), "", describe_value(json), "an object", ""}});
  json.erase("$schema");
  std::string meaning = meaning_of(shelf, json);
  return {shelf, name, std::move(meaning), std::move(json)};
}

/// Whether a folder exists and is not the library's.
bool is_own(const fs::path& folder, const fs::path& library) {
  std::error_code error;
  return fs::is_directory(folder, error) && !fs::equivalent(folder, library / folder, error);
}

/// The entries of the working folder. A user's files may have faults, and are listed anyway.
std::vector<CatalogueEntry> own_entries(const fs::path& library) {
  std::vector<CatalogueEntry> entries;
  for (const auto& [part, shelf] : kShelves) {
    if (!is_own(shelf, library)) continue;
    for (const fs::path& file : json_files(shelf)) {
      CatalogueEntry entry{std::string(shelf), file.stem().string(), "", Json::object()};
      try {
        entry = own_entry(entry.shelf, read_json(file), file.string(), library);
      } catch (const ScenarioError& error) {
        entry.meaning = fmt::format("cannot be used; see stepcast show {}", file.string());
      }
      entry.folder = fmt::format("./{}", shelf);
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

/// Puts the user's entry before the others of its shelf, and removes the one with its name.
void put_first(std::vector<CatalogueEntry> own, std::vector<CatalogueEntry>& entries) {
  for (auto entry = own.rbegin(); entry != own.rend(); ++entry) {
    std::erase_if(
        entries, [&](const CatalogueEntry& other) { return other.shelf == entry->shelf && other.name == entry->name; });
    const auto place = std::find_if(entries.begin(), entries.end(),
                                    [&](const CatalogueEntry& other) { return other.shelf == entry->shelf; });
    entries.insert(place, std::move(*entry));
  }
}

/// The messages of a compressor in bytes, for d elements of 4, and its source.
void describe_method(CatalogueEntry& entry) {
  const CompressorEntry& method = find_compressor(entry.name);
  entry.details["class"] = name_of(method.of);
  entry.details["payload"] = method.ideal;
  if (*method.grace) entry.details["payload with packing grace"] = method.grace;
  if (*method.source) entry.details["source"] = method.source;
}

void add_files(std::vector<CatalogueEntry>& entries, const char* shelf, const fs::path& folder,
               const fs::path& library) {
  for (const fs::path& file : json_files(folder)) entries.push_back(entry_of(shelf, read_json(file), file, library));
}

}  // namespace

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json" && !entry.path().stem().string().ends_with(".schema"))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> names_of_files(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.stem().string());
  return names;
}

/// Names that a message offers.
constexpr std::size_t kMostMeant = 6;

std::string meant(const std::string& name, const std::vector<std::string>& names) {
  std::error_code error;
  const std::string file = name + ".json";
  const std::string near = fs::is_regular_file(file, error) ? file : nearest(name, names);
  if (!near.empty()) return fmt::format("did you mean {}?", near);
  std::set<std::string> longer;
  if (name.size() > 2)
    for (const std::string& other : names)
      if (other.find(name) != std::string::npos) longer.insert(other);
  return longer.empty() || longer.size() > kMostMeant ? "" : fmt::format("did you mean {}?", fmt::join(longer, " or "));
}

std::string singular_of(const std::string& shelf) {
  return shelf.ends_with("ies") ? shelf.substr(0, shelf.size() - 3) + "y" : shelf.substr(0, shelf.size() - 1);
}

bool is_of_file(const std::string& shelf) {
  return shelf == "scenarios" || shelf == "suites" ||
         std::any_of(kShelves.begin(), kShelves.end(), [&](const Shelf& known) { return known.folder == shelf; });
}

std::optional<fs::path> file_on_shelf(const std::string& shelf, const std::string& name, const fs::path& library) {
  std::error_code error;
  for (const fs::path& folder : {fs::path(shelf), library / shelf})
    if (fs::path file = folder / (name + ".json"); fs::is_regular_file(file, error)) return file;
  return {};
}

CatalogueEntry own_entry(const std::string& shelf, const Json& json, const std::string& file, const fs::path& library) {
  CatalogueEntry entry = entry_of(shelf, json, file, library);
  if (shelf == "profiles") sound_profile(entry.details, file);
  else if (shelf == "suites") parse_suite(json.dump(), file, library);
  else if (shelf != "workloads") {
    entry.details = resolve_part(singular_of(shelf), json, file, library);
    entry.meaning = meaning_of(shelf, entry.details);  // a file without a description has that of the part it changes
  }
  return entry;
}

std::vector<std::string> catalogue_shelves() {
  return {"scenarios",   "workloads",  "profiles",   "layers",     "clusters", "stacks", "strategies",
          "compressors", "algorithms", "topologies", "transports", "suites",   "notes"};
}

std::vector<CatalogueEntry> catalogue(const fs::path& library) {
  std::vector<CatalogueEntry> entries;
  add_files(entries, "scenarios", library, library);
  add_files(entries, "workloads", library / "workloads", library);
  add_files(entries, "profiles", library / "profiles", library);
  add_kinds<LayerShape>(entries, "layers");
  add_files(entries, "clusters", library / "clusters", library);
  add_files(entries, "stacks", library / "stacks", library);
  add_kinds<Strategy>(entries, "strategies");
  add_kinds<Compressor>(entries, "compressors");
  for (CatalogueEntry& entry : entries)
    if (entry.shelf == "compressors") describe_method(entry);
  add_files(entries, "compressors", library / "compressors", library);
  add_algorithms(entries);
  add_kinds<Topology>(entries, "topologies");
  add_kinds<Transport>(entries, "transports");
  add_files(entries, "suites", suites_folder(library), library);
  for (const auto& note : Choices<NoteCode>::table)
    entries.push_back({"notes", std::string(note.name), std::string(note.meaning), Json::object()});
  put_first(own_entries(library), entries);
  return entries;
}

}  // namespace stepcast
