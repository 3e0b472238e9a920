// stepcast import: makes a workload with measured times of a trace of PyTorch's profiler.
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/unit/format.hpp"
#include "models/workload/profiler_trace.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/program/command.hpp"
#include "sim/program/output.hpp"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

/// A trace of some steps of a large network has hundreds of megabytes.
constexpr std::size_t kMostTrace = std::size_t{1} << 30;

struct ImportOptions {
  std::string trace, output, name;
  int batch = 0, step = 0;
};

/// The optimizer of the workload, by the name of PyTorch's class.
std::string optimizer_of(const std::string& name) { return name.starts_with("Adam") ? "adam" : "momentum"; }

Json workload_of(const TracedStep& step, const ImportOptions& options, const std::string& name) {
  Json gradients = Json::array();
  std::int64_t parameters = 0;
  for (const TracedGradient& one : step.gradients) {
    parameters += one.elements();
    gradients.push_back(
        {{"name", one.name}, {"elements", one.elements()}, {"gap", exact_text(one.gap)}, {"dims", one.dims}});
  }
  return {{"$schema", (default_library() / "workload.schema.json").string()},
          {"name", name},
          {"description", fmt::format("measured on {}, batch {}", step.device, options.batch)},
          {"source", fmt::format("stepcast import {}: step {} of {} in a trace of PyTorch's profiler", options.trace,
                                 step.step, step.steps)},
          {"batch", options.batch},
          {"dtype", name_of(step.dtype)},
          {"parameters", parameters},
          {"optimizer", optimizer_of(step.optimizer)},
          {"forward", exact_text(step.forward)},
          // Backward after the last gradient delays the update as the update's own time does.
          {"update", exact_text(step.tail + step.update)},
          {"gradients", std::move(gradients)}};
}

int import_trace(const ImportOptions& options) {
  const std::string name = options.name.empty() ? fs::path(options.trace).stem().string() : options.name;
  const std::string output = options.output.empty() ? fmt::format("workloads/{}.json", name) : options.output;
  const TracedStep step = read_profiler_trace(read_json(options.trace, kMostTrace), options.trace, options.step);
  if (options.output.empty()) fs::create_directories("workloads");
  check_outputs({options.trace}, {output});
  write_output(output, json_text(workload_of(step, options, name)));
  tell("stepcast: step {} of {} on {}: forward {}, backward {}, update {}; {} gradients in {}\n", step.step, step.steps,
       step.device, human_text(step.forward), human_text(step.backward), human_text(step.update), step.gradients.size(),
       name_of(step.dtype));
  if (step.collectives > 0)
    tell("stepcast: note: {} NCCL kernels are left out; waits for them may be in the times: trace one worker alone\n",
         step.collectives);
  if (step.device == "CPU") tell("stepcast: note: the trace has no GPU kernels, so these are times of the CPU\n");
  if (output != "-")
    tell("stepcast: wrote {}; next: stepcast run --workload {} --workers 8 --link 10Gbps\n", output, name);
  return kOk;
}

}  // namespace

void add_import(Command& program, Invocation& invocation) {
  Command command =
      program.add_subcommand("import", "Make a workload with measured times of a PyTorch profiler's trace");
  auto options = std::make_shared<ImportOptions>();
  command.add_option("trace", options->trace, "Chrome trace (JSON) of one worker, with record_shapes=True").required();
  command.add_option("--batch", options->batch, "samples of a step, which the trace does not say")
      .required()
      .between(1, 1 << 30)
      .type_name("N");
  command
      .add_option("--step", options->step, "the step of the trace to take, from 1 (default: the one of median length)")
      .between(1, 1 << 30)
      .type_name("N");
  command.add_option("--name", options->name, "the workload's name (default: the trace's)").type_name("NAME");
  command
      .add_option("-o,--output", options->output, "the workload (default: workloads/NAME.json); - is standard output")
      .type_name("PATH");
  command.footer("Example: stepcast import trace.json --batch 32");
  command.callback([options, &invocation] { invocation.exit_code = import_trace(*options); });
}

}  // namespace stepcast
