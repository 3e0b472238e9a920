// stepcast explain: shows why a step takes as long as it does, and which changes would help.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/explain/explanation.hpp"
#include "models/scenario/device_of_codec.hpp"
#include "models/scenario/library.hpp"
#include "models/strategy/builder.hpp"
#include "models/study/expansion.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/program/command.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/output.hpp"
#include "sim/program/point_progress.hpp"
#include "sim/program/study_options.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

struct ExplainOptions {
  StudyOptions study;
  std::string phase, scenario, json;
  int jobs = available_cores();
};

/// Reads the scenario with some fields changed.
using Read = std::function<Study(const std::vector<Override>&)>;

/// The scenario as a document to change, for one step and one evaluator.
Json document_of(Scenario scenario) {
  scenario.run.reset();
  scenario.baseline.reset();
  scenario.output = {};
  if (scenario.evaluation.evaluator == Evaluator::both) scenario.evaluation.evaluator = Evaluator::automatic;
  return to_json(scenario);
}

std::vector<Override> overrides_in(const Change& change) {
  std::vector<Override> all;
  for (const auto& [pointer, value] : change.set) all.push_back({pointer, value, "--set", pointer});
  return all;
}

/// Returns "found X; allowed: Y" for the first fault.
std::string why(const ScenarioError& error) {
  const Fault& fault = error.faults().front();
  return fmt::format("{}: {}", fault.pointer, fault.found) +
         (fault.allowed.empty() ? "" : fmt::format("; allowed: {}", fault.allowed));
}

/// Records the effect of a change on the point. Refuses a change that makes the point too large for its device.
void note_answer(ChangedStep& step, const PointAnswer& answer, const PointReport& now) {
  if (!answer.report) {
    step.refusal = answer.reason;
    return;
  }
  const PointReport& point = *answer.report;
  step.step = point.answers.shown().step;
  step.speedup = now.samples_per_second > 0 ? point.samples_per_second / now.samples_per_second : 0;
  step.estimate = point.estimate;
  // If the point is too large already, the user wants to know every change that helps, and every change that makes it
  // fit.
  if (point.memory) step.memory = point.memory->total();
  if (point.lacks_memory.empty()) return;
  if (!now.memory || point.memory->total() > now.memory->total()) step.refusal = point.lacks_memory;
  else step.lacks_memory = true;
}

/// Empty if the equations cannot answer: for random or asynchronous steps, TCP effects, platform files.
std::optional<CriticalTasks> critical_of(const Read& read) {
  try {
    const Study study = read({{"/evaluation/evaluator", "equations", "--evaluator", ""}});
    const Scenario& scenario = study.points.front().scenario;
    const CachedPrices prices(scenario.cluster);
    return critical_tasks(build_step_graph(scenario, make_workload(scenario), prices), prices);
  } catch (const ScenarioError&) {
  } catch (const ModelError&) {
  }
  return {};
}

Explanation explain(const Study& study, const std::string& document, const std::string& file, int jobs) {
  const Read read = [&](const std::vector<Override>& overrides) {
    return parse_study(document, file, overrides, default_library());
  };

  Study changed = read({});
  changed.points.front().notes =
      study.points.front().notes;  // they report fields without effect among the study's points, not at this one
  const Scenario scenario = changed.points.front().scenario;
  Explanation explanation;
  explanation.name = study.name;
  explanation.point = answer_whole_study(changed, jobs, shown_progress()).points.front();
  explanation.point.coordinates = study.points.front().coordinates;
  const StepForecast& now = explanation.point.answers.shown();
  explanation.critical = critical_of(read);

  for (Change& change : changes_of(scenario)) explanation.changes.push_back({std::move(change)});
  if (!explanation.point.lacks_memory.empty())
    for (Change& change : leaner_changes(scenario)) explanation.changes.push_back({std::move(change)});
  changed.points.clear();
  std::vector<ChangedStep*> steps;
  for (ChangedStep& one : explanation.changes) {
    try {
      changed.points.push_back(std::move(read(overrides_in(one.change)).points.front()));
      steps.push_back(&one);
    } catch (const ScenarioError& error) {
      one.refusal = why(error);
    }
  }
  const std::vector<PointAnswer> answers = answer_points(changed.points, jobs, shown_progress());
  for (std::size_t i = 0; i < steps.size(); ++i) note_answer(*steps[i], answers[i], explanation.point);
  for (ChangedStep& one : explanation.changes)
    if (one.refusal.empty() && one.speedup == 0)
      one.speedup = one.step == now.step ? 1 : now.step / one.step;  // no throughput without training
  return explanation;
}

/// Whether the file says more than the point. Its axes, variants, baseline or run may refuse a change that the point
/// takes.
bool stands_among_others(const Study& study) {
  const StudyPoint& point = study.points.front();
  return !point.coordinates.empty() || point.baselines || point.scenario.run;
}

/// Replaces the point by the named phase of its run. Without a name, returns a note on the phases, if there are any.
std::string choose_phase(StudyPoint& point, const std::string& name) {
  std::vector<std::string> names;
  bool changes = false;  // a change to the scenario in some phase
  if (point.scenario.run)
    for (const TrainingPhase& phase : point.scenario.run->phases) {
      names.push_back(phase.name);
      changes |= !phase.set->empty();
    }
  if (name.empty())
    return !changes
               ? ""
               : fmt::format(
                     "this is the step of the unchanged scenario; its run goes through {}; --phase NAME explains one "
                     "of them",
                     fmt::join(names, ", "));
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw UsageError("--phase",
                     fmt::format("{}: {}", name,
                                 names.empty() ? "the scenario is no run"
                                               : fmt::format("the run's phases are {}", fmt::join(names, ", "))));
  point.scenario = Scenario(point.phases[found - names.begin()]);
  point.coordinates.push_back({"phase", name});
  return "";
}

/// Whether some change compresses messages that are now sent as they are.
bool tries_compressors(const Explanation& explanation, const Scenario& scenario) {
  return std::holds_alternative<NoCompressor>(scenario.compressor) &&
         std::any_of(explanation.changes.begin(), explanation.changes.end(), [](const ChangedStep& one) {
           return one.refusal.empty() && one.change.set.front().first == "/compressor";
         });
}

bool has_codecs(const DeviceProfile* device) { return device && !device->codecs.empty(); }

int explain(const ExplainOptions& options, const Invocation& invocation) {
  Study study = load(options.study);
  require_one_point(study, "explain");
  print_notes(options.study, study);
  const std::string of_phases = choose_phase(study.points.front(), options.phase);
  check_outputs({options.study.file}, {options.scenario, options.json});
  const Json document = document_of(study.points.front().scenario);
  if (!options.scenario.empty()) write_output(options.scenario, json_text(document));
  Explanation explanation = explain(study, document.dump(), source_of(options.study), options.jobs);
  if (!of_phases.empty()) explanation.point.notes.push_back({NoteCode::other_phases, of_phases});
  if (tries_compressors(explanation, study.points.front().scenario))
    explanation.point.notes.push_back(
        {NoteCode::default_compressors,
         has_codecs(device_of_codec(study.points.front().scenario))
             ? "compressors have their defaults, and densities that depend on the data are assumed; the device has times "
               "of some compressors, the kernels of others are priced one by one, and the two do not compare"
             : "compressors have their defaults, densities that depend on the data are assumed, and their kernels are "
               "priced as sweeps over the gradient; kernels composed of a framework's operations took up to twenty times "
               "as long (scenarios/README.md, survey); try that with /codec/slowdown"});
  if (stands_among_others(study) && options.scenario.empty())
    explanation.point.notes.push_back(
        {NoteCode::one_point_options,
         "these --set options fit this point only: save it with --scenario point.json, then `stepcast run point.json --set ...`"});
  if (options.json != "-" && options.scenario != "-") write_output("-", to_text(explanation));
  if (!options.json.empty())
    write_output(options.json,
                 json_text(explanation_document(explanation, make_manifest(study, invocation.arguments))));
  return kOk;
}

}  // namespace

void add_explain(Command& program, Invocation& invocation) {
  Command command =
      program.add_subcommand("explain", "Explain the step time, and show the effect of many changes on it");
  auto options = std::make_shared<ExplainOptions>();
  add_scenario(command, options->study, "file", "scenario (JSON); - is standard input");
  add_sets(command, options->study);
  add_points(command, options->study);
  command.add_option("--phase", options->phase, "for a run: explain the step of this phase").type_name("NAME");
  command
      .add_option("--evaluator", options->study.evaluator,
                  "auto, equations or replay; by default the scenario's, and auto if that is both")
      .one_of({"auto", "equations", "replay"})
      .type_name("NAME");
  command
      .add_option(
          "--scenario", options->scenario,
          "write the scenario of the point, which the changes are of; - is standard output, instead of the text")
      .type_name("PATH");
  command.add_option("--json", options->json, "write JSON with its manifest; - is standard output, instead of the text")
      .type_name("PATH");
  add_jobs(command, options->jobs);
  command.footer(
      "Example: stepcast explain quickstart --point workload=resnet50-v100 --point 'variant=AllReduce, overlapped buckets' --point workers=16 --point bandwidth=10Gbps");
  command.callback([options, &invocation] { invocation.exit_code = explain(*options, invocation); });
}

}  // namespace stepcast
