// References inside a workload, followed before it is read: its device profile and its variant. Also a profile alone.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "models/part/profile.hpp"
#include "models/part/workload_table.hpp"
#include "models/scenario/document.hpp"

namespace stepcast {

/// Replaces `profile`, and that of `measured`, where it is text or has "from", by the content of its file in profiles/,
/// and `variant`, where it is text or has "from", by the entry of `variants` with that name ("vanilla": by null).
/// Sibling keys of "from" are laid over what it names.
/// @param file_of  the file that wrote the value at a pointer, for relative paths and faults
/// @param faults   their pointers start with `root`, their file is empty unless it is the profile's own
void resolve_workload(Json& workload, const std::string& root,
                      const std::function<std::string(const std::string&)>& file_of, PartFiles& files,
                      std::vector<Fault>& faults);

/// Where names in one's own part are looked up besides beside it, as a scenario that uses it does: the folder above the
/// shelf (clusters/, ...) on which it lies, or else the working folder.
std::filesystem::path folder_of_scenario(const std::filesystem::path& part_file);

/// The layer table that a file holds as `json`, which may be laid over another, with the keys of `over` ({"variant":
/// "pufferfish", "profile": "v100-datasheet"}) put in its place, as if by the options of these names: relative to the
/// working folder. A table that gives shapes is checked.
/// @throws ScenarioError with every fault
WorkloadTable resolve_workload_file(Json json, const std::filesystem::path& file, const Json& over,
                                    const std::filesystem::path& library);
/// The same of what the file holds.
WorkloadTable load_workload(const std::filesystem::path& file, const Json& over, const std::filesystem::path& library);

/// The device profile that a file holds as `json`.
/// @throws ScenarioError with every fault
DeviceProfile sound_profile(const Json& json, const std::filesystem::path& file);

/// The device profile named on the command line: by a path ending in .json, or by the bare name of a file in profiles/
/// here or in the library.
/// @param option  where it is named ("--from"), for faults
/// @throws ScenarioError with every fault
DeviceProfile load_profile(const std::string& reference, const std::string& option,
                           const std::filesystem::path& library);

}  // namespace stepcast
