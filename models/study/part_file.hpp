// One's own file on its own: what it holds, and whether that is sound.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"

namespace stepcast {

/// What a file holds: "scenario", "suite", "workload", "cluster", "profile", "strategy" or "compressor", whichever
/// knows most of its keys; "scenario" where none knows more of them than a scenario does.
std::string part_of_file(const Json& json);

/// What to say where a scenario is wanted of a file that is something else, with what is done with such a file; nothing
/// of one that may be meant as a scenario.
std::optional<Fault> no_scenario(const Json& json, const std::string& file);

/// A cluster's, strategy's or compressor's file as a scenario would take it, with what it is laid over.
/// @param json  what the file holds, which may be none's: `file` is then what faults call it
/// @throws ScenarioError with every fault
Json resolve_part(std::string_view part, Json json, const std::filesystem::path& file,
                  const std::filesystem::path& library);

}  // namespace stepcast
