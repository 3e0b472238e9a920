#include "sim/replay/engine.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/replay/actor_stacks.hpp"
#include "sim/replay/sanitizer.hpp"

namespace stepcast {
namespace {

std::vector<std::string> engine_options(std::size_t actors) {
  // By default, SimGrid treats events within a nanosecond as one; a few bytes at 10 Gb/s take as long.
  std::vector<std::string> options = {"stepcast", "--log=root.thresh:critical",
                                      fmt::format("--cfg={}:1e-12", sg::kTimingPrecision)};
  for (std::string& option : prepare_stacks(actors)) options.push_back(std::move(option));
  // AddressSanitizer does not know the default stacks of SimGrid's actors, and reports an exception on them as an
  // error. It knows threads.
  if (kAddressSanitizer) options.emplace_back("--cfg=contexts/factory:thread");
  return options;
}

}  // namespace

simgrid::s4u::Engine start_engine(std::size_t actors) {
  std::vector<std::string> options = engine_options(actors);
  std::vector<char*> arguments;
  for (std::string& option : options) arguments.push_back(option.data());
  int argc = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return simgrid::s4u::Engine(&argc, arguments.data());  // SimGrid copies the arguments that it keeps
}

}  // namespace stepcast
