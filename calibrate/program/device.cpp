// stepcast-calibrate device: measures this machine's GPU into a device profile.
#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "calibrate/calibration_error.hpp"
#include "calibrate/calibration_table.hpp"
#include "calibrate/measure.hpp"
#include "calibrate/measured_device.hpp"
#include "calibrate/profile_of_samples.hpp"
#include "calibrate/program/calibrate_commands.hpp"
#include "calibrate/program/identity.hpp"
#include "calibrate/program/own_processes.hpp"
#include "calibrate/program/result_file.hpp"
#include "calibrate/torch_step.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/part_json.hpp"
#include "models/scenario/workload_document.hpp"
#include "program/streams.hpp"

namespace stepcast::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 20261121;

struct DeviceOptions {
  std::string output;
  std::string name;
  bool quick = false, fresh = false, fit_only = false;
  int starts = 3;
  int start = -1;                        ///< below 0: the process that runs the starts
  std::int64_t largest = 0;              ///< 0: by `quick`
  std::vector<std::string> workloads;    ///< NAME or NAME:VARIANT
  std::string variant;                   ///< for workloads without one of their own
  std::vector<int> batches;              ///< none: the table's
  std::vector<std::string> dtypes;       ///< none: the table's
  std::string convolutions;              ///< a key of kPathOptions; none: cuDNN where it was built
  std::vector<std::string> torch_steps;  ///< files of calibrate/torch_step.py
  std::string tables;                    ///< folder for the layer tables; none: they are not written

  [[nodiscard]] fs::path samples() const { return fs::path(output).replace_extension(".samples.jsonl"); }
  [[nodiscard]] Sizes sizes() const {
    Sizes sizes{1 << 10, quick ? 1 << 24 : 1 << 26, quick ? 12 : 24, kSeed};
    if (largest > 0) sizes.largest = largest;
    return sizes;
  }
  [[nodiscard]] SamplingRules rules() const {
    SamplingRules rules;
    rules.stop = quick ? StoppingRule{5, 30, 0.02} : StoppingRule{10, 100, 0.01};
    rules.time_limit = quick ? 1 : 5;
    return rules;
  }
  /// Those of a process start.
  [[nodiscard]] std::vector<std::string> arguments(int of_start) const {
    std::vector<std::string> all = {
        "device", "-o", output, "--starts", std::to_string(starts), "--start", std::to_string(of_start)};
    if (quick) all.emplace_back("--quick");
    if (largest > 0) all.insert(all.end(), {"--largest", std::to_string(largest)});
    for (const std::string& workload : workloads) all.insert(all.end(), {"--workload", workload});
    if (!variant.empty()) all.insert(all.end(), {"--variant", variant});
    for (const int batch : batches) all.insert(all.end(), {"--batch", std::to_string(batch)});
    for (const std::string& dtype : dtypes) all.insert(all.end(), {"--dtype", dtype});
    if (!convolutions.empty()) all.insert(all.end(), {"--convolutions", convolutions});
    return all;
  }
};

std::string today() {
  char date[11];
  const std::time_t now = std::time(nullptr);
  static_cast<void>(std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now)));
  return date;
}

Json header_of(const Device& device, const DeviceOptions& options) {
  MeasuredDevice facts = device.facts();
  facts.flags = build_flags();
  facts.git = git_state();
  facts.date = today();
  const Sizes sizes = options.sizes();
  return {{"format", "stepcast-samples"},
          {"version", kSamplesVersion},
          {"program", identity()},
          {"device", write_value(facts)},
          {"options",
           {{"quick", options.quick},
            {"least", sizes.least},
            {"largest", sizes.largest},
            {"sizes", sizes.count},
            {"seed", sizes.seed}}}};
}

/// The values of --convolutions.
const std::map<std::string, ConvolutionPath> kPathOptions = {{"cudnn", ConvolutionPath::cudnn},
                                                             {"im2col", ConvolutionPath::im2col}};

ConvolutionPath path_of(const DeviceOptions& options) {
  if (options.convolutions.empty()) return has_cudnn() ? ConvolutionPath::cudnn : ConvolutionPath::im2col;
  const ConvolutionPath path = kPathOptions.at(options.convolutions);
  if (path == ConvolutionPath::cudnn && !has_cudnn() && !options.fit_only)
    throw CalibrationError("--convolutions cudnn: this program was built without cuDNN; allowed: im2col");
  return path;
}

/// For --fit-only: takes the convolution path of the samples, whatever this program was built with.
/// @throws CalibrationError without samples
DeviceOptions as_measured(DeviceOptions options) {
  const auto samples = read_samples(options.samples());
  if (!samples)
    throw CalibrationError(fmt::format("--fit-only: there are no samples at {}; without the option they are taken",
                                       options.samples().string()));
  if (!options.convolutions.empty()) return options;
  const auto has_path = [&](const auto& option) {
    const std::string prefix = kernels::prefix_of(option.second);
    return !prefix.empty() && std::any_of(samples->records.begin(), samples->records.end(), [&](const Record& record) {
      return record.name.find("/" + prefix) != std::string::npos;
    });
  };
  const auto found = std::find_if(kPathOptions.begin(), kPathOptions.end(), has_path);
  options.convolutions = found == kPathOptions.end() ? "im2col" : found->first;
  return options;
}

/// Every workload with every batch and type asked for.
/// @throws ScenarioError for a table that cannot be read, CalibrationError for one that cannot be measured
std::vector<StepToMeasure> steps_of(const DeviceOptions& options) {
  std::vector<StepToMeasure> steps;
  for (const std::string& workload : options.workloads) {
    const std::size_t colon = workload.find(':');
    const std::string name = workload.substr(0, colon),
                      variant = colon == std::string::npos ? options.variant : workload.substr(colon + 1);
    Json over = Json::object();
    if (!variant.empty()) over["variant"] = variant;
    const fs::path file = name.ends_with(".json") ? fs::path(name) : default_library() / "workloads" / (name + ".json");
    for (const int batch : options.batches.empty() ? std::vector<int>{0} : options.batches)
      for (const std::string& dtype : options.dtypes.empty() ? std::vector<std::string>{""} : options.dtypes) {
        if (batch > 0) over["batch"] = batch;
        if (!dtype.empty())
          over["dtype"] = over["compute_dtype"] = dtype;  // one type for all: the step that is measured
        const WorkloadTable table = load_workload(file, over, default_library());
        if (!gives_shapes(table))
          throw CalibrationError(fmt::format(
              "--workload {}: its table gives times, not shapes, so there is nothing to measure; choose one with shapes, such as resnet50",
              workload));
        try {
          StepToMeasure step = step_of(table, path_of(options));
          const bool known = std::any_of(steps.begin(), steps.end(), [&](const StepToMeasure& one) {
            return one.name() == step.name() && one.table.batch == step.table.batch;
          });
          if (!known) steps.push_back(std::move(step));
        } catch (const std::invalid_argument& error) {
          throw CalibrationError(fmt::format("--workload {}: {}", workload, error.what()));
        }
      }
  }
  return steps;
}

std::vector<Subject> subjects_of(const Device& device, const DeviceOptions& options) {
  std::vector<Subject> subjects = device.subjects(options.sizes());
  const std::vector<StepToMeasure> steps = steps_of(options);
  for (const LayerToMeasure& layer : layers_to_measure(steps))
    for (const kernels::Kernel* part : layer.kernels.parts()) {
      // Layers of different tables may share a kernel, such as the sums of two with as many elements.
      const std::string name = subject_name(*part);
      const auto known =
          std::find_if(subjects.begin(), subjects.end(), [&](const Subject& one) { return one.name == name; });
      if (known == subjects.end()) subjects.push_back(device.subject(*part, layer.batch));
      else if (std::find(known->sizes.begin(), known->sizes.end(), layer.batch) == known->sizes.end())
        known->sizes.push_back(layer.batch);
    }
  for (const StepToMeasure& step : steps) subjects.push_back(device.subject(step));
  return subjects;
}

int run_start(const DeviceOptions& options) {
  catch_stop_signals();
  const std::unique_ptr<Device> device = open_device();
  SampleFile file(options.samples(), header_of(*device, options));
  const Surroundings surroundings = surroundings_from_now(stop_requested);
  try {
    return measure(subjects_of(*device, options), {options.rules(), kSeed, options.start, options.starts}, file,
                   surroundings) == 0
               ? kOk
               : kWrongKernels;
  } catch (const std::exception& error) {
    throw CalibrationError(fmt::format("{}; {} measurements are kept in {}: the same command goes on from there",
                                       error.what(), file.count(), options.samples().string()));
  }
}

MeasuredDevice device_of(const Json& header, const fs::path& path) {
  MeasuredDevice device;
  std::vector<Fault> faults;
  read_value(header.contains("device") ? header["device"] : Json(), "/device", device, any, faults);
  if (!faults.empty()) throw CalibrationError(path.string() + ":1: " + to_string(faults.front()));
  return device;
}

std::string default_name(const MeasuredDevice& device) {
  std::string name;
  for (const char c : device.name + " " + device.date)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '-';
  return name;
}

/// Samples of layers and steps that are none of `steps`.
std::size_t unused_layers(const std::vector<Record>& records, const std::vector<StepToMeasure>& steps) {
  std::set<std::pair<std::string, std::int64_t>> used;
  for (const StepToMeasure& step : steps) used.emplace(step.name(), step.table.batch);
  for (const LayerToMeasure& layer : layers_to_measure(steps))
    for (const kernels::Kernel* part : layer.kernels.parts()) used.emplace(subject_name(*part), layer.batch);
  return static_cast<std::size_t>(std::count_if(records.begin(), records.end(), [&](const Record& record) {
    return (record.name.starts_with("layer/") || record.name.starts_with("step/")) &&
           !used.contains({record.name, record.size});
  }));
}

/// A step as PyTorch ran it, and the same step among the measured ones.
struct TorchPair {
  std::string file;
  TorchStep torch;
  const StepToMeasure* step;
};

/// @param steps  which the result refers to
/// @throws ScenarioError
std::vector<TorchPair> torch_pairs(const DeviceOptions& options, const std::vector<StepToMeasure>& steps) {
  std::vector<TorchPair> pairs;
  for (const std::string& file : options.torch_steps) {
    TorchStep torch = read_torch_step(file);
    const StepToMeasure& step = step_of(torch, steps, file);
    pairs.push_back({file, std::move(torch), &step});
  }
  return pairs;
}

/// The layer tables as calibrate/torch_step.py reads them, a file a step: "resnet50-pufferfish-32-tf32.json".
void write_tables(const fs::path& folder, const std::vector<StepToMeasure>& steps) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw CalibrationError(fmt::format("--tables {} cannot be made: {}", folder.string(), error.message()));
  for (const StepToMeasure& step : steps) {
    Json table = write_value(step.table);
    table["variant"] = step.variant;
    std::string name = fmt::format("{}-{}-{}-{}", step.table.name, step.variant, step.table.batch,
                                   stepcast::name_of(step.table.dtype));
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == ' '; }, '-');
    ResultFile(folder / (name + ".json")).write(table);
  }
}

/// @return whether the profile has all of PyTorch's steps: one is left out where a layer of it is
bool write_profile(const DeviceOptions& options, const std::vector<StepToMeasure>& steps,
                   const std::vector<TorchPair>& torch_pairs, ResultFile& file) {
  const auto samples = read_samples(options.samples());
  if (!samples) throw CalibrationError(options.samples().string() + " is gone; nothing was written");
  const MeasuredDevice device = device_of(samples->header, options.samples());
  DeviceProfile profile =
      make_profile(options.name.empty() ? default_name(device) : options.name, device, samples->records, kSeed, steps);
  bool all = true;
  for (const TorchPair& pair : torch_pairs) {
    if (const Layer* layer = first_unmeasured(*pair.step, profile)) {
      all = false;
      tell(
          "stepcast-calibrate: {} is left out: layer {} of its step was not measured; the calibration's log gives the "
          "reason\n",
          pair.file, layer->name);
    } else {
      add_check(profile, pair.torch, *pair.step, pair.file);
    }
  }
  file.write(write_value(profile));
  print_result(profile_table(profile, samples->records, warm_checks(device, samples->records, kSeed, steps)));
  if (const std::size_t unused = unused_layers(samples->records, steps); unused > 0)
    tell(
        "stepcast-calibrate: {} holds {} measurements of layers of other workloads, which are not in the profile; name those workloads too and they are, without being measured again\n",
        options.samples().string(), unused);
  print_result(fmt::format("\nprofile {}, samples {}\n", options.output, options.samples().string()));
  return all;
}

/// @throws CalibrationError where it is there and stays
void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) throw CalibrationError(fmt::format("{} cannot be removed: {}", path.string(), error.message()));
}

std::string shipped_profiles() {
  std::vector<std::string> names;
  std::error_code ignored;  // a program moved away from its sources has none to list
  for (const auto& file : fs::directory_iterator(default_library() / "profiles", ignored))
    names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

int fit(const DeviceOptions& given) {
  const DeviceOptions options = as_measured(given);
  const std::vector<StepToMeasure> steps = steps_of(options);
  const std::vector<TorchPair> pairs = torch_pairs(options, steps);
  ResultFile file(options.output);
  return write_profile(options, steps, pairs, file) ? kOk : kFailed;
}

int calibrate(const DeviceOptions& options) {
  check_result_path("-o", options.output);
  if (options.fit_only) return fit(options);
  if (!has_device()) {
    tell("stepcast-calibrate: no CUDA device here; shipped profiles: {}\n", shipped_profiles());
    return kFailed;
  }
  if (options.start >= 0) return run_start(options);
  catch_stop_signals();
  // Errors of a table or a path are reported before anything is measured.
  const std::vector<StepToMeasure> steps = steps_of(options);
  const std::vector<TorchPair> pairs = torch_pairs(options, steps);
  ResultFile file(options.output);
  if (!options.tables.empty()) write_tables(options.tables, steps);
  if (options.fresh) remove_file(options.samples());
  bool all_right = true;
  for (int start = 0; start < options.starts; ++start) {
    if (stop_requested())
      throw Interrupted("interrupted; the measurements so far are kept in " + options.samples().string() +
                        ": the same command goes on from there");
    const int code = run_self(options.arguments(start));
    if (code != kOk && code != kWrongKernels) return code;
    all_right &= code == kOk;
  }
  const bool has_all_pairs = write_profile(options, steps, pairs, file);
  if (!all_right)
    tell("stepcast-calibrate: the profile is without the kernels that give wrong results, which are named above\n");
  return all_right && has_all_pairs ? kOk : kFailed;
}

}  // namespace

void add_device(Command& program, int& exit_code) {
  Command command = program.add_subcommand(
      "device", "Measure this machine's GPU and write a device profile, with every sample beside it");
  auto options = std::make_shared<DeviceOptions>();
  command.add_option("-o,--output", options->output, "profile to write; samples go beside it")
      .required()
      .type_name("PATH");
  command.add_option("--name", options->name, "name of the profile; by default device and date").type_name("NAME");
  const Option quick =
      command.add_flag("--quick", options->quick, "fewer and smaller sizes, fewer samples: minutes, for a first look");
  const Option starts =
      command.add_option("--starts", options->starts, "process starts, whose spread is reported apart (with --quick 1)")
          .between(1, 100)
          .show_default();
  command
      .add_option("--largest", options->largest,
                  "elements of the largest size (default 67108864, with --quick 16777216)")
      .between(std::int64_t{1} << 16, std::int64_t{1} << 32)
      .type_name("ELEMENTS");
  command
      .add_option("--workload", options->workloads,
                  "also measure the layers of this network, and its whole step; repeat it for several")
      .type_name("NAME[:VARIANT]");
  command.add_option("--variant", options->variant, "variant of the workloads that name none themselves")
      .type_name("NAME");
  command.add_option("--batch", options->batches, "samples of a step, instead of the table's; repeat it for several")
      .between(1, 1 << 20);
  command.add_option("--dtype", options->dtypes, "type of the operands, instead of the table's; repeat it for several")
      .one_of({"fp32", "tf32", "bf16"});
  command.add_option("--convolutions", options->convolutions, "library for convolutions; by default cuDNN if built in")
      .one_of({"cudnn", "im2col"});
  command
      .add_option(
          "--torch-step", options->torch_steps,
          "a step as PyTorch runs it, as calibrate/torch_step.py writes it: among the profile's checks; repeat it for several. Added to a command that has measured, only the profile is written anew")
      .type_name("FILE");
  command
      .add_option("--tables", options->tables,
                  "also write the workloads' layer tables there, for calibrate/torch_step.py")
      .type_name("FOLDER");
  const Option fresh =
      command.add_flag("--fresh", options->fresh, "forget samples that are there, instead of going on from them");
  command
      .add_flag("--fit-only", options->fit_only,
                "measure nothing: the profile of the samples that are there, all or not; on any machine")
      .excludes(fresh);
  command.add_option("--start", options->start, "").hidden();  // internal: a process start gets it
  command.footer(
      "Takes about 5 to 8 minutes a start, and 2 with --quick. After an early end, the same command continues from "
      "the measurements; --fit-only uses them as they are.\n"
      "Example: stepcast-calibrate device -o h100.json --quick\n"
      "         stepcast-calibrate device -o h100-resnet50.json --quick --workload resnet50 --workload resnet50:pufferfish --batch 32 --dtype tf32 --dtype bf16");
  command.callback([options, quick, starts, &exit_code] {
    if (quick.is_given() && !starts.is_given()) options->starts = 1;
    exit_code = calibrate(*options);
  });
}

}  // namespace stepcast::calibrate
