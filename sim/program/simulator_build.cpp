#include "git_state.hpp"

/// The module's build, which is the program's own (loaded_simulator.cpp).
extern "C" const char stepcast_simulator_build[];
const char stepcast_simulator_build[] = STEPCAST_GIT_STATE;
