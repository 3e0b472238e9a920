#include "models/scenario/library.hpp"

#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace stepcast {
namespace {

namespace fs = std::filesystem;

/// Whether a file lies below a folder that may be named by a link.
bool is_below(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path way = file.lexically_relative(fs::weakly_canonical(folder, error));
  return !error && !way.empty() && *way.begin() != "..";
}

}  // namespace

fs::path shipped_folder(const std::string& name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error || is_below(program, STEPCAST_BUILD_TREE)) return fs::path(STEPCAST_SOURCES) / name;
  const fs::path installed = (program.parent_path() / STEPCAST_DATA_FROM_PROGRAM / name).lexically_normal();
  // A program that was copied alone finds the rest beside the scenarios that it is told of.
  if (const char* scenarios = std::getenv("STEPCAST_SCENARIOS"); scenarios && !fs::is_directory(installed, error))
    if (const fs::path beside = fs::absolute(scenarios, error).lexically_normal().parent_path() / name;
        fs::is_directory(beside, error))
      return beside;
  return installed;
}

fs::path default_library() {
  const char* chosen = std::getenv("STEPCAST_SCENARIOS");
  fs::path folder = chosen != nullptr ? fs::path(chosen) : shipped_folder("scenarios");
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw std::runtime_error(fmt::format("the shipped scenarios are not in {}; {}", folder.string(),
                                         chosen != nullptr
                                             ? "STEPCAST_SCENARIOS has to name their folder"
                                             : "install stepcast again, or name their folder in STEPCAST_SCENARIOS"));
  return folder;
}

}  // namespace stepcast
