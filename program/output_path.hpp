// Whether a file can be written where a command line says, before the work whose result it is for.
#pragma once

#include <filesystem>
#include <string>

namespace stepcast {

/// Where a path leads when it is a symbolic link; itself where the link leads nowhere.
std::filesystem::path followed(const std::filesystem::path& path);

/// Whether there is something that is no regular file: a device, a pipe, a folder.
bool is_special(const std::filesystem::path& path);

/// Why nothing can be written to a path: it is a folder, or its folder is not there or closed to us. "" where it can;
/// "-" is standard output.
std::string why_not_writable(const std::string& path);

}  // namespace stepcast
