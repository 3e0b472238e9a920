#include "sim/program/version.hpp"

#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/version.h>

#include "git_state.hpp"
#include "models/describe/json.hpp"
#include "sim/answer/digest.hpp"

namespace stepcast {
namespace {

std::string simgrid_version() { return fmt::format("{}.{}", SIMGRID_VERSION / 10000, SIMGRID_VERSION / 100 % 100); }

}  // namespace

std::string version_text() {
  return fmt::format("stepcast {} (git {}, SimGrid {}, {})", STEPCAST_VERSION, STEPCAST_GIT_STATE, simgrid_version(),
                     STEPCAST_COMPILER);
}

std::string version_number() { return STEPCAST_VERSION; }

Json version_fields() {
  return Json{{"stepcast", STEPCAST_VERSION},
              {"git", STEPCAST_GIT_STATE},
              {"simgrid", simgrid_version()},
              {"compiler", STEPCAST_COMPILER}};
}

std::string program_identity() {
  const std::string_view state = STEPCAST_GIT_STATE;
  if (!state.ends_with("-dirty") && state != "unknown") return version_text();
  std::ifstream program("/proc/self/exe", std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(program)), std::istreambuf_iterator<char>());
  return fmt::format("{} {}", version_text(), to_string(digest_of(content)));
}

}  // namespace stepcast
