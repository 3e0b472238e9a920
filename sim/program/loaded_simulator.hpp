// The simulator of sim/replay/simulator.hpp, as a module beside the program.
#pragma once

#include <filesystem>

namespace stepcast {

/// The module's file: beside the program in a build tree, else where it is installed.
std::filesystem::path simulator_file();

}  // namespace stepcast
