// stepcast trace: writes the timeline of a replay for a trace viewer.
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/strategy/builder.hpp"
#include "program/streams.hpp"
#include "sim/program/command.hpp"
#include "sim/program/output.hpp"
#include "sim/program/streamed_output.hpp"
#include "sim/program/study_options.hpp"
#include "sim/replay/replay.hpp"

namespace stepcast {
namespace {

struct TraceOptions {
  StudyOptions study;
  std::string output;
};

/// Lines of the Trace Event Format, one event each:
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
/// Participants are its processes and streams its threads. Both are numbers, and separate events give their names.
class EventLines {
 public:
  std::string of(const TaskEvent& event) {
    std::string lines;
    const auto [process, new_process] = processes_.try_emplace({event.role, event.participant}, processes_.size());
    if (new_process)
      lines += naming("process_name", process->second, 0,
                      fmt::format("{} {}", event.role == Role::worker ? "worker" : "shard", event.participant));
    const auto [thread, new_thread] = threads_.try_emplace({process->second, event.stream}, threads_.size());
    if (new_thread) lines += naming("thread_name", process->second, thread->second, std::string(event.stream));
    const Json json{{"name", event.task},
                    {"cat", name_of(event.phase)},
                    {"ph", "X"},
                    {"ts", event.start * 1e6},
                    {"dur", (event.end - event.start) * 1e6},
                    {"pid", process->second},
                    {"tid", thread->second},
                    {"args", {{"step", event.step}}}};
    return lines + json.dump() + ",\n";
  }

 private:
  static std::string naming(const char* what, std::size_t process, std::size_t thread, const std::string& name) {
    return Json{{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}}.dump() +
           ",\n";
  }

  std::map<std::pair<Role, int>, std::size_t> processes_;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> threads_;
};

int trace(const TraceOptions& options) {
  const Study study = load(options.study, {{"/evaluation/evaluator", "replay", "stepcast trace", ""}});
  require_one_point(study, "trace");
  print_notes(study);
  const Scenario& scenario = study.points.front().scenario;
  const StepGraph graph = build_step_graph(scenario, make_workload(scenario));
  check_outputs({options.study.file}, {options.output});
  StreamedOutput output(options.output);
  EventLines lines;
  output.write("[\n");
  const ReplayResult result =
      replay(scenario, graph, 0, [&](const TaskEvent& event) { output.write(lines.of(event)); });
  output.write(R"({"name":"end","ph":"M","pid":0,"args":{}}]
)");
  output.finish();
  tell("stepcast: {} steps, {}; {}\n", result.forecast.steps, result.forecast.steady_state, result.forecast.fidelity);
  return kOk;
}

}  // namespace

void add_trace(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand("trace", "Write the timeline of a replay, for Perfetto or chrome://tracing");
  auto options = std::make_shared<TraceOptions>();
  command.add_option("scenario", options->study.file, "scenario (JSON); - is standard input").required();
  add_sets(command, options->study);
  add_points(command, options->study);
  command.add_option("-o,--output", options->output, "output file; - is standard output").required().type_name("PATH");
  command.footer(
      "Examples: stepcast trace stragglers --point 'variant=gossip on a ring' -o trace.json\n          stepcast trace pipelining --set /strategy/width=2 --set /strategy/segments=4 --set /cluster/link/bandwidth=10Gbps -o trace.json");
  command.callback([options, &invocation] { invocation.exit_code = trace(*options); });
}

}  // namespace stepcast
