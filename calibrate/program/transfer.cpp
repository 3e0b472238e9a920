// stepcast-calibrate transfer: another device's profile, predicted from a measured one and two datasheets.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "calibrate/calibration_table.hpp"
#include "calibrate/program/calibrate_commands.hpp"
#include "calibrate/program/result_file.hpp"
#include "calibrate/statistics.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/part_json.hpp"
#include "models/scenario/workload_document.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"
#include "models/workload/transfer.hpp"
#include "program/streams.hpp"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;

struct TransferOptions {
  std::string measured, from, to, output, name;
};

/// Spreads of an entry before and after: by how much its band has grown.
double widening(const std::optional<double>& before, const std::optional<double>& after) {
  return (1 + after.value_or(0)) / (1 + before.value_or(0)) - 1;
}

/// The widenings of every layer and kernel. Layers without a peak are gone, the others in their order.
std::vector<double> widenings(const DeviceProfile& before, const DeviceProfile& after) {
  std::vector<double> all;
  auto moved = after.layers.begin();
  for (const LayerEntry& layer : before.layers) {
    if (moved == after.layers.end()) break;
    if (!(moved->shape == layer.shape && moved->batch == layer.batch && moved->dtype == layer.dtype)) continue;
    all.push_back(widening(layer.spread, moved->spread));
    ++moved;
  }
  for (std::size_t i = 0; i < before.kernels.size(); ++i)
    all.push_back(widening(before.kernels[i].spread, after.kernels[i].spread));
  return all;
}

std::string transfer_table(const DeviceProfile& before, const DeviceProfile& after) {
  TextTable table(1);
  table.add({"", "measured", "transferred"});
  for (const PeakRate& peak : before.peaks) {
    const PeakRate* moved = find_peak(after, peak.dtype);
    table.add({fmt::format("peak {}", name_of(peak.dtype)), human_text(peak.rate),
               moved == nullptr ? "left out" : human_text(moved->rate)});
  }
  table.add(
      {"memory bandwidth", memory_rate(before.memory_bandwidth.value), memory_rate(after.memory_bandwidth.value)});
  table.add({"launch", human_text(before.launch_overhead.value), human_text(after.launch_overhead.value)});
  table.add({"layers", std::to_string(before.layers.size()), std::to_string(after.layers.size())});
  table.add({"kernels", std::to_string(before.kernels.size()), std::to_string(after.kernels.size())});
  std::string text = after.description + "\n\n" + table.text();
  const std::vector<double> wider = widenings(before, after);
  if (!wider.empty())
    text += fmt::format("bands are wider by {} (median), {} (largest)\n", percent(median(wider)),
                        percent(*std::max_element(wider.begin(), wider.end())));
  return text;
}

void transfer_profile(const TransferOptions& options) {
  std::error_code neither_is_there;
  if (fs::equivalent(options.measured, options.output, neither_is_there))
    throw UsageError("-o", "would replace the measurement; choose another path");
  check_result_path("-o", options.output);
  const fs::path library = default_library();
  const DeviceProfile measured = load_profile(options.measured, "--measured", library);
  const DeviceProfile from = load_profile(options.from, "--from", library),
                      to = load_profile(options.to, "--to", library);
  try {
    const DeviceProfile result =
        transfer(measured, from, to, options.name.empty() ? fs::path(options.output).stem().string() : options.name);
    ResultFile(options.output).write(write_value(result));
    print_result(fmt::format("{}\nprofile {}\n", transfer_table(measured, result), options.output));
  } catch (const TransferError& error) {
    throw ScenarioError({{"--measured", "", fmt::format("\"{}\"", options.measured),
                          "a profile that can be transferred", error.what()}});
  }
}

}  // namespace

void add_transfer(Command& program, int& exit_code) {
  Command command = program.add_subcommand(
      "transfer", "Predict another device's profile from a measured one and the datasheets of both");
  auto options = std::make_shared<TransferOptions>();
  command
      .add_option("measured,--measured", options->measured,
                  "the profile to start from; as --from and --to a name in scenarios/profiles/, or a path")
      .required()
      .type_name("PROFILE");
  command.add_option("--from", options->from, "datasheet of the device that was measured")
      .required()
      .type_name("PROFILE");
  command.add_option("--to", options->to, "datasheet of the device to predict").required().type_name("PROFILE");
  command.add_option("-o,--output", options->output, "profile to write").required().type_name("PATH");
  command.add_option("--name", options->name, "name of the profile; by default its file's").type_name("NAME");
  command.footer(
      "All constants but assumed ones are marked as transferred, with a band wide enough for any bound of a kernel.\n"
      "Example: stepcast-calibrate transfer h100.json --from h100-datasheet --to v100-datasheet -o v100.json");
  command.callback([options, &exit_code] {
    transfer_profile(*options);
    exit_code = kOk;
  });
}

}  // namespace stepcast::calibrate
