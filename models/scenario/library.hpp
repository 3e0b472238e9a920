// Where the shipped workloads, profiles and scenarios lie.
#pragma once

#include <filesystem>

namespace stepcast {

/// Folder of the shipped scenarios: $STEPCAST_SCENARIOS if set, otherwise where it was at build time.
std::filesystem::path default_library();

}  // namespace stepcast
