// gzip of whole files in memory, by zlib where the build found it.
#pragma once

#include <optional>
#include <string>

namespace stepcast::calibrate {

bool has_gzip();
/// @pre has_gzip()
std::string gzip(const std::string& text);
/// None where it is no whole gzip stream. @pre has_gzip()
std::optional<std::string> gunzip(const std::string& data);

}  // namespace stepcast::calibrate
