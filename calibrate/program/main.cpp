#include <exception>
#include <new>

#include "calibrate/link/benchmark.hpp"
#include "calibrate/program/calibrate_commands.hpp"
#include "calibrate/program/identity.hpp"
#include "models/describe/fault.hpp"
#include "program/command_line.hpp"
#include "program/failure.hpp"
#include "program/streams.hpp"

namespace stepcast::calibrate {
namespace {

int run_command(int argc, char** argv) {
  CommandLine line(
      "stepcast-calibrate",
      "Measures this machine's GPU into a device profile, makes profiles from published kernel times or from another device's, and fits links to benchmarks of collectives.",
      version_text());
  Command program = line.program();
  program.footer("Example: stepcast-calibrate device -o h100.json --quick");
  int exit_code = kOk;
  add_device(program, exit_code);
  add_link(program, exit_code);
  add_transfer(program, exit_code);
  add_import(program, exit_code);
  return line.run({version_number()}, argc, argv, exit_code);
}

}  // namespace
}  // namespace stepcast::calibrate

int main(int argc, char** argv) {
  using namespace stepcast::calibrate;
  using stepcast::tell;
  stepcast::prepare_streams();
  int exit_code = kOk;
  try {
    exit_code = run_command(argc, argv);
  } catch (const BadInput& error) {
    tell("stepcast-calibrate: {}\n", error.what());
    return kBadInput;
  } catch (const stepcast::ScenarioError& error) {
    tell("stepcast-calibrate: {}\n", error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    tell(
        "stepcast-calibrate: not enough memory on this machine; the measurements are kept; --largest ELEMENTS uses "
        "smaller sizes\n");
    return kFailed;
  } catch (const std::exception& error) {
    tell("stepcast-calibrate: {}\n", stepcast::sentence_of(error));
    return kFailed;
  }
  return stepcast::finish("stepcast-calibrate", exit_code);
}
