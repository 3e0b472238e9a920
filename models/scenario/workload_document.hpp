// Resolves the references inside a workload: its device profile and its variant. Also reads single profiles.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/describe/json_fwd.hpp"
#include "models/part/profile.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

class PartFiles;

/// Resolves references (text, or objects with "from"). `profile`, also that of `measured`, becomes its file in
/// profiles/. `variant` becomes the entry of `variants` with that name ("vanilla": null). Sibling keys of "from" are
/// merged into the result.
/// @param file_of  the file that contains the value at a pointer, for relative paths and faults
/// @param faults   their pointers start with `root`; their file is empty, except in the profile's own faults
void resolve_workload(Json& workload, const std::string& root,
                      const std::function<std::string(const std::string&)>& file_of, PartFiles& files,
                      std::vector<Fault>& faults);

/// A second folder in which a part's file looks names up, as its scenario would. It is the folder above the file's
/// shelf (clusters/, ...), or else the working folder.
std::filesystem::path folder_of_scenario(const std::filesystem::path& part_file);

/// The layer table in `json`, the content of `file`, which may be a reference to another table. The keys of `over`
/// ({"variant": "pufferfish", "profile": "v100"}) replace its own, like command-line options of these names.
/// Paths in them are relative to the working folder. A table with shapes is checked.
/// @throws ScenarioError with every fault
WorkloadTable resolve_workload_file(Json json, const std::filesystem::path& file, const Json& over,
                                    const std::filesystem::path& library);
/// The same for the content of the file.
WorkloadTable load_workload(const std::filesystem::path& file, const Json& over, const std::filesystem::path& library);

/// The device profile in `json`, the content of `file`.
/// @throws ScenarioError with every fault
DeviceProfile sound_profile(const Json& json, const std::filesystem::path& file);

/// The device profile named on the command line. The name is a path ending in .json, or the bare name of a file in
/// profiles/, here or in the library.
/// @param option  the option that names it ("--from"), for faults
/// @throws ScenarioError with every fault
DeviceProfile load_profile(const std::string& reference, const std::string& option,
                           const std::filesystem::path& library);

}  // namespace stepcast
