#include "sim/replay/actor_stacks.hpp"

#include <fstream>
#include <limits>

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

}  // namespace stepcast
