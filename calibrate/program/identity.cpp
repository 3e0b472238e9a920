#include "calibrate/program/identity.hpp"

#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "git_state.hpp"

namespace stepcast::calibrate {

std::string version_text() {
  return fmt::format("stepcast-calibrate {} (git {}, {})", STEPCAST_VERSION, git_state(), STEPCAST_CUDA_VERSION);
}

std::string version_number() { return STEPCAST_VERSION; }

std::string git_state() { return STEPCAST_GIT_STATE; }

std::string build_flags() { return STEPCAST_BUILD_FLAGS; }

std::string identity() {
  const std::string known = fmt::format("{}, {}", version_text(), build_flags());
  const std::string state = git_state();
  if (!state.ends_with("-dirty") && state != "unknown") return known;
  std::ifstream program("/proc/self/exe", std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(program)), std::istreambuf_iterator<char>());
  // Only ever compared by the very same program, so any good hash will do.
  return fmt::format("{}, program {:016x}", known, std::hash<std::string_view>{}(content));
}

}  // namespace stepcast::calibrate
