#include "models/scenario/library.hpp"

#include <cstdlib>

namespace stepcast {

std::filesystem::path default_library() {
  if (const char* folder = std::getenv("STEPCAST_SCENARIOS")) return folder;
  return STEPCAST_SCENARIOS_DIR;
}

}  // namespace stepcast
