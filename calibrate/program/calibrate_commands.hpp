// The subcommands of stepcast-calibrate. Each adds itself to the command line; its callback does the work and leaves
// the exit code.
#pragma once

#include "program/options.hpp"

namespace stepcast::calibrate {

/// Meanings of the program's exit status; the same as stepcast's.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kBadInput = 3,
  kWrongKernels = 4,  ///< in a process start: all the rest was measured
};

void add_device(Command& program, int& exit_code);
void add_link(Command& program, int& exit_code);
void add_transfer(Command& program, int& exit_code);
void add_import(Command& program, int& exit_code);

}  // namespace stepcast::calibrate
