#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "calibrate/link/benchmark.hpp"
#include "calibrate/program/command.hpp"
#include "calibrate/program/identity.hpp"
#include "models/part/fault.hpp"

int main(int argc, char** argv) {
  using namespace stepcast::calibrate;
  CLI::App app(
      "Measures this machine's GPU into a device profile, predicts another device's from it, and fits links to benchmarks of collectives.",
      "stepcast-calibrate");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer("Example: stepcast-calibrate device -o h100.json");
  int exit_code = kOk;
  add_device(app, exit_code);
  add_link(app, exit_code);
  add_transfer(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    app.exit(error, std::cerr, std::cerr);
    return kUsage;
  } catch (const BadInput& error) {
    fmt::print(stderr, "stepcast-calibrate: {}\n", error.what());
    return kBadInput;
  } catch (const stepcast::ScenarioError& error) {
    fmt::print(stderr, "stepcast-calibrate: {}\n", error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(
        stderr,
        "stepcast-calibrate: this machine's memory does not suffice; what was measured is kept; --largest ELEMENTS takes smaller sizes\n");
    return kFailed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "stepcast-calibrate: {}\n", error.what());
    return kFailed;
  }
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0) {
    fmt::print(stderr, "stepcast-calibrate: cannot write to standard output\n");
    return kFailed;
  }
  return exit_code;
}
