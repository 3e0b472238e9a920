// The folders of the shipped files: scenarios with their parts, and the scripts that draw.
#pragma once

#include <filesystem>
#include <string>

namespace stepcast {

/// Folder of shipped files by its name in the sources, such as "notebooks". A program in its build tree takes it from
/// the sources. An installed program has it beside itself: PREFIX/bin/stepcast finds PREFIX/share/stepcast/notebooks.
/// @returns the path, whether it is there or not
std::filesystem::path shipped_folder(const std::string& name);

/// Folder of the shipped scenarios: $STEPCAST_SCENARIOS if set, otherwise shipped_folder("scenarios").
/// @throws std::runtime_error if there is no such folder
std::filesystem::path default_library();

}  // namespace stepcast
