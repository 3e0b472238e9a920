// The folder of the shipped workloads, profiles and scenarios.
#pragma once

#include <filesystem>

namespace stepcast {

/// Folder of the shipped scenarios: $STEPCAST_SCENARIOS if set, otherwise the folder at build time.
std::filesystem::path default_library();

}  // namespace stepcast
