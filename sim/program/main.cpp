#include <exception>

#include "models/describe/fault.hpp"
#include "program/command_line.hpp"
#include "program/failure.hpp"
#include "program/streams.hpp"
#include "sim/program/bad_input.hpp"
#include "sim/program/command.hpp"
#include "sim/program/names.hpp"
#include "sim/program/version.hpp"

namespace stepcast {
namespace {

/// The manual page's sections beside the help.
std::vector<ManualSection> manual_sections() {
  return {{"ENVIRONMENT",
           {{"STEPCAST_SCENARIOS", "Folder of the shipped scenarios and parts, instead of the installed one."},
            {"STEPCAST_PYTHON", "Python that draws plots, instead of /usr/bin/python3."},
            {"XDG_CACHE_HOME", "Folder in which sweep keeps its cache of replays (default: ~/.cache)."}}},
          {"EXIT STATUS",
           {{"0", "All is well."},
            {"1", "A point, or the run as a whole, failed."},
            {"2", "The command line is wrong, or an output cannot be written."},
            {"3", "The scenario or suite is wrong."},
            {"4", "A stated tolerance was missed."}}}};
}

int run_command(int argc, char** argv) {
  Invocation invocation;
  for (int i = 1; i < argc; ++i) invocation.arguments.emplace_back(argv[i]);

  CommandLine line(
      "stepcast",
      "Forecasts the training step of distributed SGD: timing equations and a SimGrid replay of the same step.",
      version_text());
  Command program = line.program();
  program.footer(
      "stepcast-calibrate measures GPUs and fits links; from the sources ./stepcast calibrate builds and runs it.\n"
      "Example: stepcast run quickstart");
  add_new(program, invocation);
  add_import(program, invocation);
  add_run(program, invocation);
  add_sweep(program, invocation);
  add_report(program, invocation);
  add_merge(program, invocation);
  add_explain(program, invocation);
  add_crossover(program, invocation);
  add_solve(program, invocation);
  add_validate(program, invocation);
  add_fit(program, invocation);
  add_trace(program, invocation);
  add_list(program, invocation);
  add_show(program, invocation);
  add_schema(program, invocation);
  const AboutProgram about{version_number(), known_values, manual_sections()};
  return line.run(about, argc, argv, invocation.exit_code);
}

}  // namespace
}  // namespace stepcast

/// jemalloc reads its options here. One thread needs one arena. Freed memory stays with the process until the system
/// needs it: a collective's rounds take and free the same megabytes thousands of times, and fresh pages would take up
/// to a quarter of a replay's time.
extern "C" const char* const malloc_conf = "narenas:1,oversize_threshold:0,muzzy_decay_ms:-1";

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
