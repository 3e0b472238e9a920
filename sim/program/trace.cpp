// stepcast trace: writes the timeline of a replay for a trace viewer.
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/strategy/builder.hpp"
#include "program/streams.hpp"
#include "sim/program/command.hpp"
#include "sim/program/output.hpp"
#include "sim/program/streamed_output.hpp"
#include "sim/program/study_options.hpp"
#include "sim/program/trace_events.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

struct TraceOptions {
  StudyOptions study;
  std::string output;
  std::vector<int> workers;
};

/// The workers that --workers names.
std::set<int> workers_asked(const TraceOptions& options, const Scenario& scenario) {
  for (const int worker : options.workers)
    if (worker < 0 || worker >= scenario.cluster.workers)
      throw UsageError("--workers",
                       fmt::format("{}: the scenario has workers 0 to {}", worker, scenario.cluster.workers - 1));
  return {options.workers.begin(), options.workers.end()};
}

/// In a folded replay one worker stands for all that are alike.
void tell_missing(std::set<int> asked, const std::vector<TaskEvent>& tasks) {
  for (const TaskEvent& task : tasks)
    if (task.role == Role::worker) asked.erase(task.participant);
  if (!asked.empty())
    tell("stepcast: note: another worker stands for {} {}; --fidelity full traces each\n",
         asked.size() == 1 ? "worker" : "workers", fmt::join(asked, ", "));
}

/// Changes in the use of links that a trace may have. More would fill the memory of a viewer.
constexpr std::size_t kMostLinkShares = 1 << 20;

/// The use of each link, joined where it does not change.
class LinkRecord {
 public:
  void add(const LinkUse& use) {
    if (count_ > kMostLinkShares) return;
    const double share = use.bytes / (use.end - use.start) / use.bandwidth;
    std::vector<LinkShare>& shares = shares_[std::string(use.link)];
    if (!shares.empty() && shares.back().end == use.start && std::abs(shares.back().share - share) < 1e-9) {
      shares.back().end = use.end;
      return;
    }
    shares.push_back({use.start, use.end, share});
    ++count_;
  }

  /// None if there are too many, with a note.
  LinkShares take() {
    if (count_ <= kMostLinkShares) return std::move(shares_);
    tell("stepcast: note: the use of {} links is left out: it changes more than {} times\n", shares_.size(),
         kMostLinkShares);
    return {};
  }

 private:
  LinkShares shares_;
  std::size_t count_ = 0;
};

int trace(const TraceOptions& options) {
  const Study study = load(options.study, {{"/evaluation/evaluator", "replay", "stepcast trace", ""}});
  require_one_point(study, "trace");
  print_notes(options.study, study);
  const Scenario& scenario = study.points.front().scenario;
  const std::set<int> asked = workers_asked(options, scenario);
  const StepGraph graph = build_step_graph(scenario, make_workload(scenario));
  check_outputs({options.study.file}, {options.output});
  StreamedOutput output(options.output);
  std::vector<TaskEvent> tasks;
  const auto keep = [&](const TaskEvent& event) {
    if (asked.empty() || event.role == Role::server || asked.contains(event.participant)) tasks.push_back(event);
  };
  LinkRecord links;
  const ReplayResult result = simulator().replay(scenario, graph, 0, keep, [&](const LinkUse& use) { links.add(use); });
  tell_missing(asked, tasks);
  output.write("[\n");
  write_trace_events(graph, scenario.cluster.workers, std::move(tasks), links.take(),
                     [&](std::string_view text) { output.write(text); });
  output.write(R"({"name":"end","ph":"M","pid":0,"args":{}}]
)");
  output.finish();
  if (options.output != "-")
    tell("stepcast: wrote {}, for https://ui.perfetto.dev or chrome://tracing\n", options.output);
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
  command
      .add_option("--workers", options->workers,
                  "these workers alone, by rank from 0, with all shards: 0,14 (default: each that the replay follows)")
      .split_at_commas()
      .type_name("N,...");
  command
      .add_option("--fidelity", options->study.fidelity,
                  "full: every worker and link; folded: one worker of each kind; by default the scenario's, or auto")
      .one_of({"full", "folded", "auto"})
      .type_name("NAME");
  command.add_option("-o,--output", options->output, "output file; - is standard output").required().type_name("PATH");
  command.footer(
      "Examples: stepcast trace quickstart --point workload=vgg16-v100 --point workers=4 --point bandwidth=10Gbps --point 'variant=pipelined, K = 2' --workers 0,3 --fidelity full -o trace.json\n          stepcast trace stragglers --point 'variant=gossip on a ring' -o trace.json\n          stepcast trace pipelining --set /strategy/width=2 --set /strategy/segments=4 --set /cluster/link/bandwidth=10Gbps -o trace.json");
  command.callback([options, &invocation] { invocation.exit_code = trace(*options); });
}

}  // namespace stepcast
