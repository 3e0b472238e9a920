// stepcast-calibrate import: a device profile from tables of kernel times that others measured.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/import/import.hpp"
#include "calibrate/link/benchmark.hpp"
#include "calibrate/program/calibrate_commands.hpp"
#include "calibrate/program/result_file.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/part_json.hpp"
#include "models/scenario/workload_document.hpp"
#include "program/streams.hpp"

namespace stepcast::calibrate {
namespace {

struct Options {
  std::vector<std::string> tables;
  std::string base, device, measured_on, output;
  ImportOptions import;
};

std::vector<KernelRow> read_rows(const Options& options) {
  std::vector<KernelRow> rows;
  std::set<std::string> devices;
  for (const std::string& file : options.tables) {
    KernelTable table = parse_kernel_table(content_of(file), file);
    for (const std::string& doubt : table.doubts) tell("stepcast-calibrate: {}\n", doubt);
    for (KernelRow& row : table.rows) {
      devices.insert(row.device);
      rows.push_back(std::move(row));
    }
  }
  if (options.device.empty() && devices.size() > 1)
    throw UsageError(
        fmt::format("the tables have several devices: choose one of {} by --device", fmt::join(devices, ", ")));
  if (!options.device.empty() && !devices.contains(options.device))
    throw UsageError(fmt::format("--device {}: the tables have {}", options.device, fmt::join(devices, ", ")));
  if (!options.device.empty()) std::erase_if(rows, [&](const KernelRow& row) { return row.device != options.device; });
  return rows;
}

void import_profile(const Options& options) {
  check_result_path("-o", options.output);
  const DeviceProfile base = load_profile(options.base, "--base", default_library());
  ImportOptions importing = options.import;
  if (!options.measured_on.empty())
    importing.measured_on = load_profile(options.measured_on, "--measured-on", default_library());
  if (importing.name.empty()) importing.name = std::filesystem::path(options.output).stem().string();
  const Import import = import_kernels(base, read_rows(options), importing);
  for (const std::string& reason : import.left_out) tell("stepcast-calibrate: left out: {}\n", reason);
  if (import.kinds.empty())
    throw ScenarioError({{options.tables.front(), "", "no kind of kernel with enough rows",
                          fmt::format("{} rows of a kind, type and pass", kLeastSamples), ""}});
  ResultFile(options.output).write(write_value(import.profile));
  print_result(fmt::format("{}\nprofile {}\n", import_table(import), options.output));
}

}  // namespace

void add_import(Command& program, int& exit_code) {
  Command command =
      program.add_subcommand("import", "Fit a device profile to tables of kernel times that others measured");
  auto options = std::make_shared<Options>();
  command
      .add_option("tables,--from", options->tables,
                  "CSV with device, dtype, layer, pass, batch, shape, time; several for several")
      .required()
      .type_name("FILE");
  command
      .add_option("--base", options->base,
                  "profile whose peaks, bandwidth and processors hold, and whose other constants are kept: a name in "
                  "scenarios/profiles/, or a path")
      .required()
      .type_name("PROFILE");
  command.add_option("--source", options->import.source, "who measured the times, where, and the licence")
      .required()
      .type_name("TEXT");
  command.add_option("-o,--output", options->output, "profile to write").required().type_name("PATH");
  command.add_option("--device", options->device, "the device, in tables of several").type_name("NAME");
  command.add_option("--name", options->import.name, "name of the profile; by default its file's").type_name("NAME");
  command.add_option("--description", options->import.description, "its description; by default the base's")
      .type_name("TEXT");
  command
      .add_option("--measured-on", options->measured_on,
                  "profile of the device that the tables are of, if it is not the base's: the models are transferred")
      .type_name("PROFILE");
  command.add_flag(
      "--keep-launch", options->import.keeps_launch,
      "keep the base's launch: the tables' fixed time is that of their harness, which waits for each call");
  command.footer(
      "A model is judged on kernels held out by whole families: 30 % of 500 rows or more, each of five parts of fewer.\n"
      "Example: stepcast-calibrate import a100.csv --base a100-datasheet --source \"NVIDIA, Apache-2.0\" -o a100.json");
  command.callback([options, &exit_code] {
    import_profile(*options);
    exit_code = kOk;
  });
}

}  // namespace stepcast::calibrate
