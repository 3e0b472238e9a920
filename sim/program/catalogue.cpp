#include "sim/program/catalogue.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/collective/collective.hpp"
#include "models/part/writer.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scenario/suite.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

/// What a part's description tells beside its defaults: fields without one, and what each named choice means.
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

void add_workloads(std::vector<CatalogueEntry>& entries, const fs::path& library) {
  for (const fs::path& file : json_files(library / "workloads")) {
    const WorkloadTable table = load_workload(file, Json::object(), library);
    entries.push_back({"workloads", file.stem().string(), table.description, summary(table)});
  }
}

/// What a compressor sends, in bytes for d elements of 4, and whose it is.
void describe_method(CatalogueEntry& entry) {
  const CompressorEntry& method = find_compressor(entry.name);
  entry.details["class"] = name_of(method.of);
  entry.details["payload"] = method.ideal;
  if (*method.grace) entry.details["payload with packing grace"] = method.grace;
  if (*method.source) entry.details["source"] = method.source;
}

void add_files(std::vector<CatalogueEntry>& entries, const char* shelf, const fs::path& folder) {
  for (const fs::path& file : json_files(folder)) {
    Json json = read_json(file);
    const std::string meaning = json.value("description", json.value("name", std::string()));
    json.erase("$schema");
    entries.push_back({shelf, file.stem().string(), meaning, json});
  }
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

std::vector<std::string> catalogue_shelves() {
  return {"scenarios",   "workloads",  "profiles",   "layers",     "clusters", "strategies",
          "compressors", "algorithms", "topologies", "transports", "suites"};
}

std::vector<CatalogueEntry> catalogue(const fs::path& library) {
  std::vector<CatalogueEntry> entries;
  add_files(entries, "scenarios", library);
  add_workloads(entries, library);
  add_files(entries, "profiles", library / "profiles");
  add_kinds<LayerShape>(entries, "layers");
  add_files(entries, "clusters", library / "clusters");
  add_kinds<Strategy>(entries, "strategies");
  add_kinds<Compressor>(entries, "compressors");
  for (CatalogueEntry& entry : entries)
    if (entry.shelf == "compressors") describe_method(entry);
  add_algorithms(entries);
  add_kinds<Topology>(entries, "topologies");
  add_kinds<Transport>(entries, "transports");
  add_files(entries, "suites", suites_folder(library));
  return entries;
}

}  // namespace stepcast
