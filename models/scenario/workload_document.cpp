#include "models/scenario/workload_document.hpp"

#include "models/scenario/document.hpp"
#include "models/scenario/part_files.hpp"
#include "models/scenario/references.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/scenario/part_json.hpp"
#include "models/workload/check_profile.hpp"
#include "models/workload/check_shapes.hpp"

namespace stepcast {
namespace {

/// The text of a reference; "" if the value is not a reference.
std::string reference_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("from") && value["from"].is_string()) return value["from"].get<std::string>();
  return "";
}

/// The named part, merged with the sibling keys of "from", key by key.
Json laid_over(Json named, const Json& value) {
  if (!value.is_object()) return named;
  Json over = value;
  over.erase("from");
  named.merge_patch(over);
  return named;
}

/// Reads a profile separately, so that its faults name its own file.
DeviceProfile read_profile(const Json& json, const std::filesystem::path& file, std::vector<Fault>& faults) {
  DeviceProfile profile;
  const std::size_t before = faults.size();
  read_value(json, "", profile, {}, faults);
  for (std::size_t i = before; i < faults.size(); ++i) faults[i].file = file.string();
  return profile;
}

void resolve_profile(Json& value, const std::string& root, const std::string& file, PartFiles& files,
                     std::vector<Fault>& faults) {
  const std::string reference = reference_of(value);
  if (reference.empty()) return;
  try {
    const auto path = files.find("profile", reference, file, pointer_to(root, "profile"));
    Json named = files.read(path);
    const std::size_t before = faults.size();
    read_profile(named, path, faults);
    if (faults.size() == before) value = laid_over(std::move(named), value);
    else value = nullptr;
  } catch (const ScenarioError& error) {
    for (Fault fault : error.faults()) {
      if (fault.file == file) fault.file.clear();  // the caller with the document fills in the place
      faults.push_back(std::move(fault));
    }
    value = nullptr;
  }
}

void resolve_variant(Json& workload, const std::string& root, std::vector<Fault>& faults) {
  Json& value = workload["variant"];
  const std::string reference = reference_of(value);
  if (reference.empty()) return;
  const Json vanilla = nullptr;
  const Json* named = reference == "vanilla" ? &vanilla : nullptr;
  std::vector<std::string> names{"vanilla"};
  if (const auto variants = workload.find("variants"); variants != workload.end() && variants->is_array())
    for (const Json& variant : *variants) {
      if (!variant.is_object() || !variant.contains("name") || !variant["name"].is_string()) continue;
      names.push_back(variant["name"].get<std::string>());
      if (names.back() == reference) named = &variant;
    }
  if (!named) {
    detail::read_name(reference, pointer_to(root, "variant"), names, faults);
    value = nullptr;
    return;
  }
  value = laid_over(*named, value);
}

}  // namespace

void resolve_workload(Json& workload, const std::string& root,
                      const std::function<std::string(const std::string&)>& file_of, PartFiles& files,
                      std::vector<Fault>& faults) {
  if (!workload.is_object()) return;
  const auto resolve = [&](Json& owner, const std::string& pointer) {
    const auto profile = owner.find("profile");
    if (profile == owner.end()) return;
    forget_schema(*profile);
    resolve_profile(*profile, pointer, file_of(pointer_to(pointer, "profile")), files, faults);
  };
  resolve(workload, root);
  if (const auto measured = workload.find("measured"); measured != workload.end() && measured->is_object()) {
    const std::size_t before = faults.size();
    resolve(*measured, pointer_to(root, "measured"));
    if (faults.size() > before) *measured = nullptr;  // prevents a second fault for its missing profile
  }
  if (workload.contains("variant")) resolve_variant(workload, root, faults);
}

std::filesystem::path folder_of_scenario(const std::filesystem::path& part_file) {
  const std::string folder = std::filesystem::absolute(part_file).parent_path().filename().string();
  const bool shelved =
      std::any_of(kShelves.begin(), kShelves.end(), [&](const Shelf& shelf) { return shelf.folder == folder; });
  return shelved ? (part_file.parent_path() / "..").lexically_normal() : "";
}

WorkloadTable load_workload(const std::filesystem::path& file, const Json& over, const std::filesystem::path& library) {
  return resolve_workload_file(read_json(file), file, over, library);
}

WorkloadTable resolve_workload_file(Json content, const std::filesystem::path& file, const Json& over,
                                    const std::filesystem::path& library) {
  forget_schema(content);
  PartFiles files(folder_of_scenario(file), library);
  const std::string place = "/workload";
  Document document{Json::object({{"workload", std::move(content)}}), Origins(file.string())};
  document.origins.add(place, file.string(), "");
  std::vector<Fault> faults;
  resolve_references(document, files, faults);
  if (!faults.empty()) throw ScenarioError(std::move(faults));
  Json& json = document.json["workload"];
  if (json.is_object())
    for (const auto& [key, value] : over.items()) {
      json[key] = value;
      document.origins.add(pointer_to(place, key), "--" + key, "");
    }
  WorkloadTable table;
  resolve_workload(
      json, place, [&](const std::string& pointer) { return document.origins.file_of(pointer); }, files, faults);
  read_value(json, place, table, {}, faults);
  take_as_mixed_precision(table);
  if (faults.empty() && gives_shapes(table)) check_shapes(table, place, faults);
  for (Fault& fault : faults)
    if (fault.file.empty()) fault = document.origins.locate(std::move(fault));
  if (!faults.empty()) throw ScenarioError(std::move(faults));
  return table;
}

DeviceProfile load_profile(const std::string& reference, const std::string& option,
                           const std::filesystem::path& library) {
  PartFiles files("", library);
  const auto path = files.find("profile", reference, option, "");
  return sound_profile(files.read(path), path);
}

DeviceProfile sound_profile(const Json& json, const std::filesystem::path& file) {
  std::vector<Fault> faults;
  DeviceProfile profile = read_profile(json, file, faults);
  if (faults.empty()) check_rates(profile, "", faults);
  for (Fault& fault : faults)
    if (fault.file.empty()) fault.file = file.string();
  if (!faults.empty()) throw ScenarioError(std::move(faults));
  return profile;
}

}  // namespace stepcast
