#include <exception>

#include "models/describe/fault.hpp"
#include "program/command_line.hpp"
#include "program/failure.hpp"
#include "program/streams.hpp"
#include "sim/program/bad_input.hpp"
#include "sim/program/command.hpp"
#include "sim/program/version.hpp"

namespace stepcast {
namespace {

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
  return parse_and_run(app, argc, argv, invocation.exit_code);
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
  return finish("stepcast", exit_code);
}
