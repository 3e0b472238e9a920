#include <exception>
#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "program/command_line.hpp"
#include "program/failure.hpp"
#include "program/streams.hpp"
#include "sim/program/bad_input.hpp"
#include "sim/program/command.hpp"
#include "sim/program/version.hpp"

namespace stepcast {
namespace {

/// @returns the exit code; a failure if standard output does not take everything
int run_command(int argc, char** argv) {
  Invocation invocation;
  for (int i = 1; i < argc; ++i) invocation.arguments.emplace_back(argv[i]);

  CLI::App app(
      "Forecasts the training step of distributed SGD: timing equations and a SimGrid replay of the same step.",
      "stepcast");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer("Example: stepcast run scenarios/quickstart.json");
  add_run(app, invocation);
  add_sweep(app, invocation);
  add_merge(app, invocation);
  add_explain(app, invocation);
  add_crossover(app, invocation);
  add_solve(app, invocation);
  add_validate(app, invocation);
  add_trace(app, invocation);
  add_list(app, invocation);
  add_show(app, invocation);
  add_schema(app, invocation);
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    tell(usage_text(app, error, invocation.arguments));
    return kUsage;
  }
  return invocation.exit_code;
}

}  // namespace
}  // namespace stepcast

int main(int argc, char** argv) {
  using namespace stepcast;
  prepare_streams();
  int exit_code = kOk;
  try {
    exit_code = run_command(argc, argv);
  } catch (const ScenarioError& error) {
    tell("stepcast: {} fault{} in the scenario\n{}\n", error.faults().size(), error.faults().size() == 1 ? "" : "s",
         error.what());
    return kBadScenario;
  } catch (const ModelError& error) {
    tell("stepcast: {}\n", error.what());
    return kBadScenario;
  } catch (const BadInput& error) {
    tell("stepcast: {}\n", error.what());
    return kBadScenario;
  } catch (const std::exception& error) {
    tell("stepcast: {}\n", sentence_of(error));
    return kRunFailed;
  }
  if (exit_code == kUsage) return exit_code;
  if (const std::string why = finish_output(); !why.empty()) {
    tell("stepcast: cannot write to standard output: {}\n", why);
    return kRunFailed;
  }
  return exit_code;
}
