#include "models/study/part_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/scenario/document.hpp"
#include "models/scenario/fields.hpp"
#include "models/scenario/part_files.hpp"
#include "models/scenario/part_json.hpp"
#include "models/scenario/references.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/study/suite.hpp"

namespace stepcast {
namespace {

/// The number of an object's keys that are fields of a part.
struct KnownKeys {
  const Json& object;
  std::size_t count = 0;

  template <class T>
  void required(const char* name, T&, const char*, Limits = {}) {
    count += object.contains(name);
  }
  template <class T>
  void optional(const char* name, T&, const char*, Limits = {}) {
    count += object.contains(name);
  }
};

template <class T>
std::size_t known_keys(const Json& object) {
  KnownKeys keys{object};
  if constexpr (IsVariant<T>::value) {
    for_each_part(static_cast<const T*>(nullptr), [&]<class Part>(std::in_place_type_t<Part>) {
      if (object.value("kind", Json()) != Part::kind) return;
      Part part;
      Part::describe(keys, part);
      ++keys.count;
    });
  } else {
    T part;
    T::describe(keys, part);
  }
  return keys.count;
}

template <class T>
void read_part(const Json& json, const std::string& pointer, std::vector<Fault>& faults) {
  T part{};
  read_value(json, pointer, part, {}, faults);
}

}  // namespace

std::string part_of_file(const Json& json) {
  if (!json.is_object()) return "scenario";
  const std::pair<const char*, std::size_t> kinds[] = {{"scenario", known_keys<ScenarioFields>(json)},
                                                       {"suite", known_keys<SuiteFields>(json)},
                                                       {"workload", known_keys<WorkloadTable>(json)},
                                                       {"cluster", known_keys<Cluster>(json)},
                                                       {"stack", known_keys<Stack>(json)},
                                                       {"profile", known_keys<DeviceProfile>(json)},
                                                       {"strategy", known_keys<Strategy>(json)},
                                                       {"compressor", known_keys<Compressor>(json)}};
  const auto most = std::max_element(std::begin(kinds), std::end(kinds),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

std::optional<Fault> no_scenario(const Json& json, const std::string& file) {
  const std::string part = part_of_file(json);
  if (part == "scenario") return {};
  // A file that names parts is meant as a scenario, whatever other keys it has.
  for (const char* key : {"workload", "cluster", "stack", "strategy", "compressor"})
    if (json.contains(key)) return {};
  const std::string path = file.ends_with(".json") ? file : "FILE.json";
  std::string use;
  if (part == "suite") use = fmt::format("stepcast validate {} compares it with its measurements", path);
  else if (part == "profile") use = fmt::format("a scenario's workload names it: \"profile\": \"{}\"", path);
  else use = fmt::format("a scenario names it: \"{}\": \"{}\"", part, path);
  return Fault{file, "", fmt::format("a document that seems to be a {}", part), "a scenario", std::move(use)};
}

Json resolve_part(std::string_view part, Json json, const std::filesystem::path& file,
                  const std::filesystem::path& library) {
  forget_schema(json);
  PartFiles files(folder_of_scenario(file), library);
  const std::string pointer = pointer_to("", part);
  Document document{Json::object({{std::string(part), std::move(json)}}), Origins(file.string())};
  document.origins.add(pointer, file.string(), "");
  std::vector<Fault> faults;
  resolve_references(document, files, faults);
  Json& resolved = document.json[std::string(part)];
  if (faults.empty()) {
    if (part == "cluster") read_part<Cluster>(resolved, pointer, faults);
    else if (part == "stack") read_part<Stack>(resolved, pointer, faults);
    else if (part == "strategy") read_part<Strategy>(resolved, pointer, faults);
    else if (part == "compressor") read_part<Compressor>(resolved, pointer, faults);
    else throw std::invalid_argument(fmt::format("\"{}\" is none of cluster, stack, strategy and compressor", part));
    for (Fault& fault : faults) fault = document.origins.locate(std::move(fault));
  }
  if (!faults.empty()) throw ScenarioError(std::move(faults));
  return resolved;
}

}  // namespace stepcast
