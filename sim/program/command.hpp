// The subcommands of the stepcast program. Each adds itself to the command line; its callback does the work and
// leaves the exit code.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

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

void add_run(CLI::App& app, Invocation& invocation);
void add_sweep(CLI::App& app, Invocation& invocation);
void add_merge(CLI::App& app, Invocation& invocation);
void add_explain(CLI::App& app, Invocation& invocation);
void add_crossover(CLI::App& app, Invocation& invocation);
void add_solve(CLI::App& app, Invocation& invocation);
void add_validate(CLI::App& app, Invocation& invocation);
void add_trace(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_show(CLI::App& app, Invocation& invocation);
void add_schema(CLI::App& app, Invocation& invocation);

}  // namespace stepcast
