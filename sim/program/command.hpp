// The subcommands of the stepcast program. Each adds itself to the command line; its callback does the work and
// leaves the exit code.
#pragma once

#include <string>
#include <vector>

#include "program/options.hpp"

namespace stepcast {

/// The meanings of the program's exit status.
enum ExitCode : int {
  kOk = 0,
  kRunFailed = 1,
  kUsage = 2,
  kBadScenario = 3,
  kThresholdMissed = 4,
};

/// The command line as given, for manifests.
struct Invocation {
  std::vector<std::string> arguments;
  int exit_code = kOk;
};

void add_new(Command& program, Invocation& invocation);
void add_import(Command& program, Invocation& invocation);
void add_run(Command& program, Invocation& invocation);
void add_sweep(Command& program, Invocation& invocation);
void add_report(Command& program, Invocation& invocation);
void add_merge(Command& program, Invocation& invocation);
void add_explain(Command& program, Invocation& invocation);
void add_crossover(Command& program, Invocation& invocation);
void add_solve(Command& program, Invocation& invocation);
void add_validate(Command& program, Invocation& invocation);
void add_fit(Command& program, Invocation& invocation);
void add_trace(Command& program, Invocation& invocation);
void add_list(Command& program, Invocation& invocation);
void add_show(Command& program, Invocation& invocation);
void add_schema(Command& program, Invocation& invocation);

}  // namespace stepcast
