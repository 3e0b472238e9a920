#include "sim/program/loaded_simulator.hpp"

#include <stdexcept>

#include <dlfcn.h>
#include <fmt/format.h>

#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

const Simulator& load(const fs::path& file) {
  // Lazily, since SimGrid's libraries have 20,000 symbols that a replay never calls. It stays loaded until the end.
  void* module = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  const void* found = module ? ::dlsym(module, "stepcast_simulator") : nullptr;
  if (!found)
    throw std::runtime_error(fmt::format(
        "cannot load the simulator: {}; install stepcast again, or use --evaluator equations", ::dlerror()));
  return *static_cast<const Simulator*>(found);
}

}  // namespace

fs::path simulator_file() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path built = folder / STEPCAST_SIMULATOR_FILE;
  return fs::exists(built) ? built
                           : (folder / STEPCAST_MODULES_FROM_PROGRAM / STEPCAST_SIMULATOR_FILE).lexically_normal();
}

const Simulator& simulator() {
  static const Simulator& loaded = load(simulator_file());
  return loaded;
}

}  // namespace stepcast
