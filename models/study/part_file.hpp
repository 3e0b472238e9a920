// Examines a single file of the user: its kind of content, and its faults.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "models/describe/fault.hpp"
#include "models/describe/json_fwd.hpp"

namespace stepcast {

/// The kind of a file: "scenario", "suite", "workload", "cluster", "profile", "stack", "strategy" or "compressor". It is the
/// kind that knows most of the file's keys. If none knows more keys than a scenario does, it is "scenario".
std::string part_of_file(const Json& json);

/// The fault for a file that is not a scenario where one is needed; it also tells the right use of the file. Empty if
/// the file may be meant as a scenario.
std::optional<Fault> no_scenario(const Json& json, const std::string& file);

/// A cluster's, strategy's or compressor's file as a scenario would read it, merged with its base file.
/// @param json  content of the file; without a file, `file` is the name for it in faults
/// @throws ScenarioError with every fault
Json resolve_part(std::string_view part, Json json, const std::filesystem::path& file,
                  const std::filesystem::path& library);

}  // namespace stepcast
