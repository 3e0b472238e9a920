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
#include "models/report/table.hpp"
#include "models/report/writers.hpp"
#include "models/study/find_axis.hpp"
#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "program/terminal.hpp"
#include "sim/program/command.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/measured.hpp"
#include "sim/program/output.hpp"
#include "sim/program/picture.hpp"
#include "sim/program/point_progress.hpp"
#include "sim/program/slow_kernels.hpp"
#include "sim/program/study_options.hpp"
#include "sim/program/verdict.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

struct RunOptions {
  StudyOptions study;
  std::string csv, json, save, measured;
  PictureOptions picture;
  bool no_plot = false;
  int jobs = available_cores();
  std::string format;
  std::vector<std::string> columns;
  bool wide = false;
  std::optional<std::size_t> best;
  std::string by;
  std::vector<std::string> each;
};

/// @throws UsageError for a text that is no time, or zero
Seconds read_measured(const RunOptions& options) {
  try {
    if (const auto time = parse_quantity<Seconds>(options.measured); time > Seconds{}) return time;
    throw UsageError("--measured", options.measured + " is not above zero");
  } catch (const UnitError& error) {
    throw UsageError("--measured", error.what());
  }
}

/// The metric that --by names, if it is given.
const Metric* metric_asked(const RunOptions& options) {
  return options.by.empty() ? nullptr : read_option("--by", [&] { return &find_metric(options.by); });
}

/// The metrics that --columns names.
std::vector<const Metric*> columns_asked(const RunOptions& options) {
  std::vector<const Metric*> columns;
  for (const std::string& name : options.columns)
    columns.push_back(read_option("--columns", [&] { return &find_column(name); }));
  return columns;
}

/// The rows that the program prints: all points below the answer in a sentence, or those that --best chooses.
std::string table_of(const RunOptions& options, const TableOptions& layout, const Metric* by,
                     const std::vector<std::string>& each, const Study& study, const Report& report) {
  if (options.best && !report.points.empty()) {
    const Metric& metric = read_option("--by", [&]() -> const Metric& { return choose_metric(report.points, by); });
    std::vector<std::string> notes = report.answer_notes;
    if (std::string ranked = note_of_trainings(study, each); !ranked.empty()) notes.push_back(std::move(ranked));
    return to_ranking(report, metric, *options.best, each, layout) + note_lines(notes);
  }
  std::string answer = report.answer;
  if (!answer.empty()) answer += "\n" + note_lines(report.answer_notes);
  return fmt::format("{}{}{}", answer, layout.markdown && !answer.empty() ? "\n" : "", to_table(report, layout));
}

/// The step that --measured gives, beside the forecast of the one point.
std::optional<MeasuredStep> measured_of(const RunOptions& options, const Study& study, const Report& report) {
  if (options.measured.empty() || report.points.empty()) return {};
  const Seconds measured = read_measured(options);
  return explain_measured(study.points.front(), report.points.front(), measured, options.jobs);
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
  const bool is_read_by_program = options.csv == "-" || options.json == "-" || options.format == "markdown";
  return options.no_plot || is_read_by_program ? "" : study.output.plot.value_or("");
}

/// The options with --format as the outputs that it abbreviates.
RunOptions with_outputs(RunOptions options) {
  for (auto [format, path] : {std::pair("csv", &options.csv), std::pair("json", &options.json)})
    if (options.format == format) {
      if (!path->empty() && *path != "-")
        throw UsageError("--format", fmt::format("{0}, and --{0} {1}; leave one of them out", format, *path));
      *path = "-";
    }
  return options;
}

int run(const RunOptions& given, const Invocation& invocation) {
  const RunOptions options = with_outputs(given);
  const Metric* by = metric_asked(options);
  const TableOptions layout{options.wide ? 0 : terminal_width(), columns_asked(options), options.format == "markdown"};
  const Study study = load(options.study);
  const std::vector<std::string> each = situations(options, study);
  if (!options.measured.empty()) {
    read_measured(options);
    require_one_point(study, "--measured");
  }
  print_notes(options.study, study);
  const std::string plot = picture_path(options, study);
  const std::vector<std::string> asked = picture_arguments(options.picture, study);
  check_outputs({options.study.file}, {options.csv, options.json, options.save}, plot);
  if (!options.save.empty()) save_scenario(options.study, options.save);
  Report report = answer_study(study, options.jobs, shown_progress());
  if (options.csv != "-") add_slow_kernels(options.study, study, options.jobs, report);

  const std::optional<MeasuredStep> measured = measured_of(options, study, report);
  Json document;
  if (!options.json.empty() || !plot.empty())
    document = report_document(report, make_manifest(study, invocation.arguments));
  if (measured && !document.is_null()) document["measured"] = measured_json(*measured);
  if (options.csv != "-" && options.json != "-") {
    const std::string table = table_of(options, layout, by, each, study, report) + (measured ? to_text(*measured) : "");
    write_output("-", shows_colours() && !layout.markdown ? with_colours(table) : table);
  }
  if (!options.csv.empty()) write_output(options.csv, to_csv(report, {options.wide, layout.columns}));
  if (!options.json.empty()) write_output(options.json, json_text(document));
  const int verdict = judge_report(source_of(options.study), study, report);
  if (!plot.empty() && !report.points.empty()) {
    make_with_script("plot_report.py", document, plot, asked);
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
  command
      .add_option("--measured", options->measured,
                  "a measured step of the point, 187ms: how far off is the forecast, and what could explain it?")
      .type_name("TIME");
  add_sets(command, options->study);
  add_points(command, options->study);
  add_evaluation(command, options->study);
  command.add_option("--csv", options->csv, "write CSV; - is standard output, instead of the table").type_name("PATH");
  command
      .add_option("--json", options->json, "write JSON with its manifest; - is standard output, instead of the table")
      .type_name("PATH");
  command
      .add_option("--format", options->format,
                  "table (the default), markdown, or csv and json in place of --csv - and --json -")
      .one_of({"table", "markdown", "csv", "json"})
      .type_name("NAME");
  command
      .add_option(
          "--columns", options->columns,
          "columns of the table and of CSV beside the axes, by their head or name in files: step,speedup,memory")
      .split_at_commas()
      .type_name("NAME,...");
  command.add_flag(
      "--wide", options->wide,
      "the table's columns beyond the terminal's width too, and empty ones of CSV; --columns has still more");
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
