#include "sim/program/loaded_simulator.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>

#include "git_state.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error(
      fmt::format("cannot load the simulator: {}; install stepcast again; equations need no simulator", why));
}

const void* find(void* module, const char* name) {
  const void* found = ::dlsym(module, name);
  if (!found) refuse(::dlerror());
  return found;
}

const Simulator& load(const fs::path& file) {
  // Lazily, since SimGrid's libraries have 20,000 symbols that a replay never calls. It stays loaded until the end.
  void* module = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!module) refuse(::dlerror());
  // Another build may lay out scenarios and step graphs in another way.
  const std::string_view build = static_cast<const char*>(find(module, "stepcast_simulator_build"));
  if (build != STEPCAST_GIT_STATE)
    refuse(fmt::format("{} is of git {}, and the program of {}", file.string(), build, STEPCAST_GIT_STATE));
  return *static_cast<const Simulator*>(find(module, "stepcast_simulator"));
}

}  // namespace

fs::path simulator_file() {
  std::error_code error;  // without /proc, none of the two files is found
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path built = folder / STEPCAST_SIMULATOR_FILE;
  return fs::exists(built, error)
             ? built
             : (folder / STEPCAST_MODULES_FROM_PROGRAM / STEPCAST_SIMULATOR_FILE).lexically_normal();
}

const Simulator& simulator() {
  static const Simulator& loaded = load(simulator_file());
  return loaded;
}

}  // namespace stepcast
