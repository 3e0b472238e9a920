// Results in files.
#pragma once

#include <filesystem>

#include "models/scenario/json.hpp"

namespace stepcast::calibrate {

/// Writes PATH.partial and renames it, so that a file of that name is whole.
/// @throws CalibrationError where it cannot be written; nothing is left then
void write_json(const std::filesystem::path& path, const Json& json);

}  // namespace stepcast::calibrate
