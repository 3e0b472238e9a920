#pragma once

#include "tests/emulator/grid.hpp"

namespace cooperative_groups {

struct grid_group {
  void sync(stepcast::emulator::Place where = stepcast::emulator::Place::here()) const {
    stepcast::emulator::meet_grid(where);
  }
};
inline grid_group this_grid() { return {}; }

}  // namespace cooperative_groups
