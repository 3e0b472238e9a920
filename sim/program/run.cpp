// stepcast run: answers a scenario.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/report/footnotes.hpp"
#include "models/report/goal.hpp"
#include "models/report/other_trainings.hpp"
#include "models/report/writers.hpp"
#include "models/study/find_axis.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/program/command.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/output.hpp"
#include "sim/program/picture.hpp"
#include "sim/program/point_progress.hpp"
#include "sim/program/study_options.hpp"
#include "sim/program/verdict.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

struct RunOptions {
  StudyOptions study;
  std::string csv, json, save;
  PictureOptions picture;
  bool no_plot = false;
  int jobs = available_cores();
  std::optional<std::size_t> best;
  std::string by;
  std::vector<std::string> each;
};

/// The metric that --by names, if it is given.
const Metric* metric_asked(const RunOptions& options) {
  return options.by.empty() ? nullptr : read_option("--by", [&] { return &find_metric(options.by); });
}

/// A footnote if the ranked points are not the same training.
std::string note_of_trainings(const Study& study, const std::vector<std::string>& each) {
  // Ranked points by their situation on the axes of --each.
  std::map<std::vector<std::string>, std::vector<const Scenario*>> ranked;
  for (const StudyPoint& point : study.points) {
    std::vector<std::string> situation;
    for (const std::string& axis : each) situation.push_back(value_on(point.coordinates, axis));
    ranked[situation].push_back(&point.scenario);
  }
  std::vector<std::string> differences;
  for (const auto& [situation, scenarios] : ranked)
    for (std::string& difference : differences_in_training(scenarios))
      if (std::find(differences.begin(), differences.end(), difference) == differences.end())
        differences.push_back(std::move(difference));
  if (differences.empty()) return "";
  return note_lines(
      {fmt::format("the points differ in training ({}), whose accuracy is not forecast: the first need not be the best",
                   fmt::join(differences, ", "))});
}

/// The rows that the program prints: all points, or those that --best chooses.
std::string table_of(const RunOptions& options, const Metric* by, const std::vector<std::string>& each,
                     const Study& study, const Report& report) {
  if (!options.best || report.points.empty()) return to_table(report);
  const Metric& metric = read_option("--by", [&]() -> const Metric& { return choose_metric(report.points, by); });
  return to_ranking(report, metric, *options.best, each) + note_of_trainings(study, each);
}

/// Reports failed points, and the difference between evaluators.
int judge(const std::string& file, const Study& study, const Report& report) {
  for (const FailedPoint& failed : report.failed) tell_failure(file, study, failed.index, failed.reason);
  Verdict verdict{.points = report.points.size(), .failed = report.failed.size()};
  for (const PointReport& point : report.points)
    if (const auto difference = point.answers.difference()) verdict.add_difference(*difference, point.tolerance);
  return verdict.judge();
}

/// The axes that --each names.
std::vector<std::string> situations(const RunOptions& options, const Study& study) {
  std::vector<std::string> axes;
  for (const std::string& name : options.each) {
    const std::string& axis = study.axes[read_option("--each", [&] { return find_axis(study, name); })];
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  return axes;
}

/// Where the picture goes. A scenario's own is not drawn for programs, which read standard output.
std::string picture_path(const RunOptions& options, const Study& study) {
  if (!options.picture.path.empty()) return options.picture.path;
  const bool is_read_by_program = options.csv == "-" || options.json == "-";
  return options.no_plot || is_read_by_program ? "" : study.output.plot.value_or("");
}

int run(const RunOptions& options, const Invocation& invocation) {
  const Metric* by = metric_asked(options);
  const Study study = load(options.study);
  const std::vector<std::string> each = situations(options, study);
  print_notes(study);
  const std::string plot = picture_path(options, study);
  const std::vector<std::string> asked = picture_arguments(options.picture, study);
  check_outputs({options.study.file}, {options.csv, options.json, options.save}, plot);
  if (!options.save.empty()) save_scenario(options.study, options.save);
  const Report report = answer_study(study, options.jobs, shown_progress());

  Json document;
  if (!options.json.empty() || !plot.empty())
    document = report_document(report, make_manifest(study, invocation.arguments));
  if (options.csv != "-" && options.json != "-") write_output("-", table_of(options, by, each, study, report));
  if (!options.csv.empty()) write_output(options.csv, to_csv(report));
  if (!options.json.empty()) write_output(options.json, json_text(document));
  const int verdict = judge(source_of(options.study), study, report);
  if (!plot.empty() && !report.points.empty()) {
    draw_plot(document, plot, asked);
    tell("stepcast: wrote {}\n", plot);
  }
  return verdict;
}

}  // namespace

void add_run(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand("run", "Predict: how long a step takes, and why");
  auto options = std::make_shared<RunOptions>();
  add_scenario(command, options->study, "scenario", "scenario or study (JSON); - is standard input");
  command.add_option("--save", options->save, "write the scenario that --workload and the like tell, as a file")
      .type_name("PATH");
  add_sets(command, options->study);
  add_points(command, options->study);
  add_evaluation(command, options->study);
  command.add_option("--csv", options->csv, "write CSV; - is standard output, instead of the table").type_name("PATH");
  command
      .add_option("--json", options->json, "write JSON with its manifest; - is standard output, instead of the table")
      .type_name("PATH");
  const Option best = command
                          .add_option("--best", options->best,
                                      "the N best points alone, the best first; CSV, JSON and plot have all of them")
                          .between(1, 1000000)
                          .type_name("N");
  command
      .add_option(
          "--by", options->by,
          fmt::format("the metric that --best ranks by: {}; by default the time of a run if all points are runs, else "
                      "throughput",
                      goal_names()))
      .needs(best)
      .type_name("METRIC");
  command.add_option("--each", options->each, "N points for each combination of values of these axes")
      .needs(best)
      .split_at_commas()
      .type_name("AXIS,...");
  add_picture(command, options->picture);
  command.add_flag("--no-plot", options->no_plot, "do not draw the plot that the scenario asks for");
  add_jobs(command, options->jobs);
  command.footer(
      "Examples: stepcast run --workload bert-base --cluster dgx-1-v100 --workers 16 --link 10Gbps\n          stepcast run quickstart --set '/cluster/workers=[8,128]' --evaluator both --csv result.csv");
  command.callback([options, &invocation] { invocation.exit_code = run(*options, invocation); });
}

}  // namespace stepcast
