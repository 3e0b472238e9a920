#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/part/fault.hpp"
#include "sim/program/command.hpp"
#include "sim/program/version.hpp"

namespace {

std::string names_of_subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace stepcast;
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

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::RequiredError& error) {
    const auto called_so = [&](const CLI::App* command) { return argc > 1 && command->get_name() == argv[1]; };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(called_so).empty())
      fmt::print(stderr, "stepcast: there is no subcommand {}; there are {}\n", argv[1], names_of_subcommands(app));
    else app.exit(error, std::cerr, std::cerr);
    return kUsage;
  } catch (const CLI::ParseError& error) {
    app.exit(error, std::cerr, std::cerr);
    return kUsage;
  } catch (const ScenarioError& error) {
    fmt::print(stderr, "stepcast: {} fault{} in the scenario\n{}\n", error.faults().size(),
               error.faults().size() == 1 ? "" : "s", error.what());
    return kBadScenario;
  } catch (const ModelError& error) {
    fmt::print(stderr, "stepcast: {}\n", error.what());
    return kBadScenario;
  } catch (const std::exception& error) {
    fmt::print(stderr, "stepcast: {}\n", error.what());
    return kRunFailed;
  }
  std::cout.flush();
  if (!std::cout || std::ferror(stdout) != 0 || std::fflush(stdout) != 0) {
    fmt::print(stderr, "stepcast: cannot write to standard output\n");
    return kRunFailed;
  }
  return invocation.exit_code;
}
