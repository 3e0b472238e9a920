#include "sim/program/version.hpp"

#include <string_view>

#include <fmt/format.h>

#include "git_state.hpp"
#include "models/describe/json.hpp"
#include "sim/answer/digest.hpp"
#include "sim/program/loaded_simulator.hpp"

namespace stepcast {

std::string version_text() {
  return fmt::format("stepcast {} (git {}, SimGrid {}, {})", STEPCAST_VERSION, STEPCAST_GIT_STATE,
                     STEPCAST_SIMGRID_VERSION, STEPCAST_COMPILER);
}

std::string version_number() { return STEPCAST_VERSION; }

Json version_fields() {
  return Json{{"stepcast", STEPCAST_VERSION},
              {"git", STEPCAST_GIT_STATE},
              {"simgrid", STEPCAST_SIMGRID_VERSION},
              {"compiler", STEPCAST_COMPILER}};
}

std::string program_identity() {
  const std::string_view state = STEPCAST_GIT_STATE;
  if (!state.ends_with("-dirty") && state != "unknown") return version_text();
  const auto digest = [](const auto& file) { return to_string(digest_of_file(file).value_or(Digest{})); };
  return fmt::format("{} {} {}", version_text(), digest("/proc/self/exe"), digest(simulator_file()));
}

}  // namespace stepcast
