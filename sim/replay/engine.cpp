#include "sim/replay/engine.hpp"

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>

namespace stepcast {
namespace {

/// Address space for each actor, which touches a few pages of it.
constexpr int kStackKiB = 256;

}  // namespace

std::size_t most_mappings() {
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::size_t most = 0;
  return file >> most ? most : 65530;
}

bool protects_stacks(std::size_t actors, std::size_t mappings) { return 2 * actors <= mappings / 2; }

std::vector<std::string> prepare_stacks(std::size_t actors) {
  std::vector<std::string> options{fmt::format("--cfg=contexts/stack-size:{}", kStackKiB)};
  if (protects_stacks(actors, most_mappings())) return options;
  options.emplace_back("--cfg=contexts/guard-size:0");
  // SimGrid callocs unprotected stacks. Fresh pages from mmap stay untouched, but pages of the heap are cleared. Pages
  // of 2 MiB would hold eight stacks each, all of them in memory.
  ::mallopt(M_MMAP_THRESHOLD, kStackKiB * 1024 / 2);
  ::mallopt(M_MMAP_MAX, std::numeric_limits<int>::max());
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  return options;
}

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
