#include "program/output_path.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace stepcast {

namespace fs = std::filesystem;

fs::path followed(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

bool is_special(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

std::string why_not_writable(const std::string& path) {
  if (path == "-") return "";
  std::error_code error;
  if (fs::is_directory(path, error)) return fmt::format("{} is a folder; give a file", path);
  if (is_special(path)) return "";
  const fs::path target = followed(path);
  const fs::path folder = target.parent_path().empty() ? "." : target.parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fmt::format("cannot write {}: {}: {}", path, folder.string(), std::strerror(errno));
  if (!fs::is_directory(folder, error))
    return fmt::format("cannot write {}: {}: {}", path, folder.string(), std::strerror(ENOTDIR));
  if (target.filename().empty()) return fmt::format("{} names a folder; give a file", path);
  return "";
}

}  // namespace stepcast
