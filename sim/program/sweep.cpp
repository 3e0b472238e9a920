// stepcast sweep: a study of many points, on one machine or many.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/report/report.hpp"
#include "models/report/rows.hpp"
#include "program/failure.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/answer/answer.hpp"
#include "sim/answer/point_rows.hpp"
#include "sim/program/command.hpp"
#include "sim/program/filled_columns.hpp"
#include "sim/program/output.hpp"
#include "sim/program/picture.hpp"
#include "sim/program/point_progress.hpp"
#include "sim/program/shard_file.hpp"
#include "sim/program/streamed_output.hpp"
#include "sim/program/study_options.hpp"
#include "sim/program/verdict.hpp"
#include "sim/program/version.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

struct SweepOptions {
  StudyOptions study;
  std::string csv, json_lines, shard, shard_file, cache;
  PictureOptions picture;
  bool no_cache = false, wide = false;
  int jobs = 0;
};

/// Points of a picture; more could not be told apart, and their rows are kept in memory.
constexpr std::size_t kMostDrawn = 20000;

struct OutputFile {
  RowFormat format;
  std::string path;
};

/// The outputs; CSV on standard output by default.
std::vector<OutputFile> output_files(const SweepOptions& options, const std::optional<Shard>& shard) {
  std::vector<OutputFile> files;
  if (shard) {
    const std::string stem = options.study.file == "-" || options.study.file.empty()
                                 ? "study"
                                 : std::filesystem::path(options.study.file).stem().string();
    files.push_back({RowFormat::shard, options.shard_file.empty()
                                           ? fmt::format("{}.shard-{}-of-{}.jsonl", stem, shard->index, shard->count)
                                           : options.shard_file});
    return files;
  }
  if (!options.csv.empty()) files.push_back({RowFormat::csv, options.csv});
  if (!options.json_lines.empty()) files.push_back({RowFormat::json_lines, options.json_lines});
  if (files.empty()) files.push_back({RowFormat::csv, "-"});
  return files;
}

std::optional<Shard> shard_asked(const SweepOptions& options) {
  if (options.shard.empty()) {
    if (!options.shard_file.empty()) throw UsageError("--shard-file", "wants --shard");
    return {};
  }
  if (!options.csv.empty() || !options.json_lines.empty())
    throw UsageError("--shard", "writes a shard; stepcast merge makes CSV and JSON lines of them");
  if (!options.picture.path.empty()) throw UsageError("--plot", "wants all points, not those of a shard");
  return read_option("--shard", [&] { return parse_shard(options.shard); });
}

/// A failure of the default cache does not stop the sweep.
std::unique_ptr<AnswerCache> open_cache(const SweepOptions& options) {
  if (options.no_cache) return nullptr;
  if (!options.cache.empty()) return std::make_unique<AnswerCache>(options.cache);
  try {
    return std::make_unique<AnswerCache>(default_cache_file());
  } catch (const std::runtime_error& error) {
    tell("stepcast: going on without a cache: {}\n", error.what());
    return nullptr;
  }
}

volatile std::sig_atomic_t stop_signal = 0;

/// Ctrl-C and kill end the sweep in order; the parent ends its children.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { stop_signal = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

/// Ends as if the signal had not been caught, so that shells and schedulers see it.
[[noreturn]] void end_by(int signal) {
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(std::raise(signal));
  std::_Exit(kRunFailed);
}

std::string summary(const AnswerCount& count, std::size_t failed, double seconds) {
  std::string text = fmt::format("{} points", count.done);
  if (count.by_equations == count.points) text += " by equations";
  if (count.replays > 0) {
    if (count.by_equations > 0) text += fmt::format(", {} by equations alone", count.by_equations);
    text += fmt::format("; {} replays: {} from the cache, {} computed", count.replays, count.cached, count.computed);
  }
  if (failed > 0) text += fmt::format("; {} points failed", failed);
  return text + fmt::format("; {:.1f} s, {:.3g} points/s", seconds, static_cast<double>(count.done) / seconds);
}

using Clock = std::chrono::steady_clock;

/// The report that a picture is drawn of, without its points.
Json report_without_points(const Study& study) {
  const auto gives_one = [](const StudyPoint& point) { return point.scenario.baseline.has_value(); };
  return {{"name", study.name},
          {"description", study.description},
          {"baseline", baseline_of(study.points)},
          {"baseline_given", std::any_of(study.points.begin(), study.points.end(), gives_one)},
          {"axes", study.axes},
          {"points", Json::array()}};
}

void draw(const SweepOptions& options, const Study& study, Json&& points) {
  Json report = report_without_points(study);
  report["points"] = std::move(points);
  make_with_script("plot_report.py", report, options.picture.path, picture_arguments(options.picture, study));
  tell("stepcast: wrote {}\n", options.picture.path);
}

int sweep_as_first(const SweepOptions& options, const Study& study, AnswerOptions settings,
                   const std::vector<OutputFile>& files, const std::optional<Shard>& shard, const PointRows& rows,
                   AnswerSink sink, Ranks& ranks, Clock::time_point start) {
  std::vector<std::string> paths;
  for (const OutputFile& file : files) paths.push_back(file.path);
  check_outputs({options.study.file}, paths, options.picture.path);
  const bool draws = !options.picture.path.empty();
  Json drawn = Json::array();
  const auto cache = open_cache(options);
  settings.cache = cache.get();
  std::vector<StreamedOutput> outputs;
  for (const OutputFile& file : files) {
    const bool drops_empty = file.format == RowFormat::csv && !options.wide;
    outputs.emplace_back(file.path, drops_empty ? StreamedOutput::Filter(write_filled_columns) : nullptr);
    if (file.format == RowFormat::csv) outputs.back().write(csv_header(rows.columns()));
    if (file.format == RowFormat::shard)
      outputs.back().write(to_line(ShardHeader{to_string(digest_of(study.source)), settings.program, *shard,
                                               study.points.size(), study.axes.size(), rows.columns()}));
  }

  Progress progress("stepcast");
  Verdict verdict;
  sink.take = [&](std::size_t point, const std::string& packed) {
    const PointRow row = unpack_row(packed);
    for (std::size_t format = 0; format < outputs.size(); ++format) outputs[format].write(row.texts[format]);
    if (draws) drawn.push_back(Json::parse(row.texts.back()));
    if (row.difference) verdict.add_difference(*row.difference, row.tolerance);
    if (row.error.empty()) return;
    ++verdict.failed;
    progress.clear();
    tell_failure(source_of(options.study), study, point, row.error);
  };
  sink.progress = [&](const AnswerCount& count) { show(progress, count, verdict.failed); };
  sink.stop = [] { return stop_signal != 0; };
  if (ranks.size() == 1) stop_on_signals();  // mpirun ends all ranks itself
  const AnswerCount count = answer(study.points, settings, ranks, sink);
  verdict.points = verdict.compared;
  progress.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  tell("stepcast: {}\n", summary(count, verdict.failed, seconds));
  if (count.stopped) {
    const bool kept = cache && count.replays > 0;
    tell("stepcast: stopped after {} of {} points; the same command {}\n", count.done, count.points,
         kept ? "continues from there" : "begins anew: only replays are kept, and only in a cache");
    end_by(stop_signal);
  }
  for (StreamedOutput& output : outputs) output.finish();
  const int code = verdict.judge();
  if (draws && verdict.failed < count.points) draw(options, study, std::move(drawn));
  return code;
}

int sweep_with(const SweepOptions& options, const std::optional<Shard>& shard, Ranks& ranks) {
  const auto start = Clock::now();
  const Study study = load(options.study);
  if (ranks.rank() == 0) print_notes(options.study, study);
  const auto files = output_files(options, shard);
  std::vector<RowFormat> formats;
  for (const OutputFile& file : files) formats.push_back(file.format);
  if (!options.picture.path.empty()) {
    static_cast<void>(picture_arguments(options.picture, study));  // refuses before any work
    if (study.points.size() > kMostDrawn)
      throw UsageError("--plot", fmt::format("{} points are too many for a picture", study.points.size()));
    formats.push_back(RowFormat::json_lines);
  }
  const PointRows rows(study, formats);
  const AnswerSink sink{[&](std::size_t point, const PointAnswer& answer) { return pack(rows.make(point, answer)); },
                        {}};
  AnswerOptions settings;
  settings.program = program_identity();
  settings.jobs = options.jobs > 0 ? options.jobs : std::max(1, available_cores() / ranks.beside());
  settings.shard = shard.value_or(Shard{});
  if (ranks.rank() == 0)
    return sweep_as_first(options, study, std::move(settings), files, shard, rows, sink, ranks, start);
  static_cast<void>(answer(study.points, settings, ranks, sink));
  return kOk;
}

int sweep_alone(const SweepOptions& options, const std::optional<Shard>& shard) {
  return sweep_with(options, shard, *one_process());
}

/// One failing rank ends all. If every rank fails alike, as for a bad scenario, only the first reports it.
int sweep_among_ranks(const SweepOptions& options) {
  if (options.study.file == "-") throw UsageError("study", "standard input reaches one rank only; give a file");
  const auto ranks = mpi_ranks();
  try {
    return sweep_with(options, {}, *ranks);
  } catch (const ScenarioError&) {
    if (ranks->rank() == 0) throw;
    return kBadScenario;
  } catch (const std::exception& error) {
    tell("stepcast: rank {}: {}\n", ranks->rank(), sentence_of(error));
    ranks->abort();
  }
  return kRunFailed;
}

}  // namespace

void add_sweep(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand(
      "sweep", "Predict many points: one row each, in parallel; continues after an interruption");
  auto options = std::make_shared<SweepOptions>();
  add_scenario(command, options->study, "study", "scenario with lists or variants (JSON); - is standard input");
  add_sets(command, options->study);
  add_evaluation(command, options->study);
  command.add_option("--csv", options->csv, "write CSV; - is standard output (the default without --jsonl)")
      .type_name("PATH");
  command.add_flag("--wide", options->wide, kWideCsv);
  command.add_option("--jsonl", options->json_lines, "write JSON lines; - is standard output").type_name("PATH");
  add_picture(command, options->picture);
  command.add_option("--jobs", options->jobs, "processes at a time; under MPI, for each rank (default: one a core)")
      .between(1, 1024);
  command.add_option("--shard", options->shard, "only the i-th of n parts (from 0), into a shard for stepcast merge")
      .type_name("i/n");
  command.add_option("--shard-file", options->shard_file, "file of the shard (default: STUDY.shard-i-of-n.jsonl)")
      .type_name("PATH");
  const Option cache =
      command
          .add_option("--cache", options->cache,
                      "file of replays answered before (default: $XDG_CACHE_HOME/stepcast/answers-N.sqlite)")
          .type_name("PATH");
  command.add_flag("--no-cache", options->no_cache, "neither read nor write the cache").excludes(cache);
  command.footer(
      "Examples: stepcast sweep quickstart --evaluator replay --csv result.csv\n"
      "          mpirun -n 64 stepcast sweep study.json --csv result.csv\n"
      "          stepcast sweep study.json --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT");
  command.callback([options, &invocation] {
    const auto shard = shard_asked(*options);
    // A shard is answered by one process, even inside an MPI job of several.
    invocation.exit_code = !shard && is_one_of_several() ? sweep_among_ranks(*options) : sweep_alone(*options, shard);
  });
}

}  // namespace stepcast
