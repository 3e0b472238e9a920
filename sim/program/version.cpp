#include "sim/program/version.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/version.h>

#include "git_state.hpp"

namespace stepcast {
namespace {

std::string simgrid_version() { return fmt::format("{}.{}", SIMGRID_VERSION / 10000, SIMGRID_VERSION / 100 % 100); }

}  // namespace

std::string version_text() { return fmt::format("stepcast {} (git {}, SimGrid {}, {})", STEPCAST_VERSION, STEPCAST_GIT_STATE, simgrid_version(), STEPCAST_COMPILER); }

Json version_fields() {
  return Json{{"stepcast", STEPCAST_VERSION}, {"git", STEPCAST_GIT_STATE}, {"simgrid", simgrid_version()}, {"compiler", STEPCAST_COMPILER}};
}

}  // namespace stepcast
