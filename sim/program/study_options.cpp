#include "sim/program/study_options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/scenario/override.hpp"
#include "models/scenario/part_files.hpp"
#include "models/study/choose_points.hpp"
#include "models/study/expansion.hpp"
#include "models/study/find_field.hpp"
#include "models/study/part_file.hpp"
#include "models/unit/parse.hpp"
#include "program/options.hpp"
#include "models/unit/format.hpp"
#include "program/streams.hpp"
#include "sim/program/catalogue.hpp"
#include "sim/program/output.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

/// "workers=8" is no pointer yet.
bool is_by_name(const std::string& set) {
  const auto equals = set.find('=');
  return equals != std::string::npos && equals > 0 && set.substr(0, equals).find('/') == std::string::npos;
}

/// The texts of --set with pointers for names. Fields are looked up in the study as the other options make it.
std::vector<std::string> with_pointers(const StudyOptions& options) {
  if (std::none_of(options.sets.begin(), options.sets.end(), is_by_name)) return options.sets;
  if (!can_be_read_again(options))
    throw UsageError(
        "--set",
        "a scenario from a pipe or from standard input is read once; give JSON pointers, such as /cluster/workers=64");
  StudyOptions others = options;
  std::erase_if(others.sets, is_by_name);
  others.points.clear();
  const Study study = load_first(others);
  std::vector<std::string> sets;
  for (const std::string& set : options.sets) {
    const auto equals = set.find('=');
    sets.push_back(!is_by_name(set) ? set : read_option("--set", [&] {
                                              return find_field(study, set.substr(0, equals));
                                            }) + set.substr(equals));
  }
  return sets;
}

std::vector<Override> overrides(const StudyOptions& options) {
  std::vector<Override> changes = overrides_of_words(options.words);
  const std::vector<Override> sets = overrides_of(with_pointers(options));
  changes.insert(changes.end(), sets.begin(), sets.end());
  if (!options.evaluator.empty()) changes.push_back({"/evaluation/evaluator", options.evaluator, "--evaluator", ""});
  if (!options.fidelity.empty()) changes.push_back({"/evaluation/fidelity", options.fidelity, "--fidelity", ""});
  if (options.tolerance) changes.push_back({"/evaluation/tolerance", *options.tolerance, "--tolerance", ""});
  return changes;
}

/// The path of a shipped scenario, if its bare name is given and there is no such file here.
std::filesystem::path file_of(const std::string& name) {
  const bool bare = name.find('/') == std::string::npos && !name.ends_with(".json") && name != "-";
  std::error_code error;
  if (!bare || std::filesystem::exists(name, error)) return name;
  const std::filesystem::path shipped = default_library() / (name + ".json");
  if (std::filesystem::exists(shipped, error)) return shipped;
  const std::vector<std::string> names = names_of_files(json_files(default_library()));
  const std::string part = part_named(name, "", std::array<std::filesystem::path, 2>{".", default_library()});
  throw ScenarioError({{name, "", "no such file, and no shipped scenario of that name",
                        fmt::format("the path of a JSON file, or {}", fmt::join(names, ", ")),
                        part.empty() ? meant(name, names)
                                     : fmt::format("that is a {0}, which a {1} names: \"{0}\": \"{2}\"", part,
                                                   part == "profile" ? "workload" : "scenario", name)}});
}

/// The scenario before it is changed: the file, or nothing but a name.
Document document_of(const StudyOptions& options) {
  if (!options.file.empty()) {
    const std::string file = file_of(options.file).string();
    return {read_json(file), Origins(file == "-" ? "standard input" : file)};
  }
  if (std::all_of(options.words.begin(), options.words.end(), [](const std::string& word) { return word.empty(); }))
    throw UsageError("scenario",
                     "none is given; name a file, or tell one: --workload resnet50-v100 --workers 16 --link 10Gbps "
                     "--latency 25us");
  const std::string& workload = options.words.front();
  return {Json{{"name", workload.empty() ? "scenario" : workload}}, Origins("the command line")};
}

/// The --point options that choose a study's first point.
std::string example_choice(const Study& study) {
  std::string text;
  for (const Coordinate& c : study.points.front().coordinates)
    text += fmt::format("{}--point '{}={}'", text.empty() ? "" : " ", c.axis, c.value);
  return text;
}

/// The study with the chosen points only.
Study chosen(Study study, const std::vector<std::string>& points) {
  read_option("--point", [&] { choose_points(study, points); });
  return study;
}

}  // namespace

void add_scenario(Command& command, StudyOptions& options, const std::string& argument, const std::string& meaning) {
  command.add_option(argument, options.file, meaning);
  add_words(command, options.words);
}

std::string source_of(const StudyOptions& options) { return options.file.empty() ? "the command line" : options.file; }

void add_sets(Command& command, std::vector<std::string>& sets, const std::string& meaning) {
  command.add_option("--set", sets, meaning).type_name("POINTER=VALUE").one_value_a_time();
}

void add_sets(Command& command, StudyOptions& options) {
  add_sets(
      command, options.sets,
      "change a field: /json/pointer=value, or the last part of the pointer, workers=8 (repeatable); also inside parts that variants set as a whole");
}

std::vector<Override> overrides_of(const std::vector<std::string>& sets) {
  std::vector<Override> changes;
  for (const std::string& text : sets) {
    try {
      changes.push_back(parse_override(text));
    } catch (const ScenarioError& error) {
      throw UsageError("--set", error.what());
    }
  }
  return changes;
}

void add_points(Command& command, StudyOptions& options) {
  command
      .add_option(
          "--point", options.points,
          "only points with this value on that axis, as the table shows them (repeatable): variant=NAME, workers=4")
      .type_name("AXIS=VALUE")
      .one_value_a_time();
}

void add_evaluation(Command& command, StudyOptions& options) {
  command
      .add_option(
          "--evaluator", options.evaluator,
          "auto (equations if they are exact or within 1 %, else the replay), equations, replay or both; by default "
          "the scenario's, or auto")
      .one_of({"auto", "equations", "replay", "both"})
      .type_name("NAME");
  command
      .add_option(
          "--fidelity", options.fidelity,
          "for replays: full, folded (one of each kind) or auto (folded if that is exact); by default the scenario's, "
          "or auto")
      .one_of({"full", "folded", "auto"})
      .type_name("NAME");
  command
      .add_option("--tolerance", options.tolerance,
                  "with both: largest relative difference before exit code 4; without it the scenario's, or 1e-6")
      .check([](const std::string& text) -> std::string {
        const std::optional<double> value = parse_number(text);
        return value && *value >= 0 ? "" : fmt::format("\"{}\" is not a number of at least 0", text);
      })
      .type_name("NUMBER");
}

void add_jobs(Command& command, int& jobs) {
  command.add_option("--jobs", jobs, "replay processes at a time").between(1, 1024).show_default();
}

Study load(const StudyOptions& options, const std::vector<Override>& more) {
  std::vector<Override> changes = overrides(options);
  changes.insert(changes.end(), more.begin(), more.end());
  const Document document = document_of(options);
  try {
    return chosen(expand_study(document, changes, default_library(), kMaxPoints, {}, inspect_platform), options.points);
  } catch (const ScenarioError&) {
    if (const auto fault = no_scenario(document.json, document.origins.file_of(""))) throw ScenarioError({*fault});
    // Faults of points that are not chosen do not matter.
    if (options.points.empty()) throw;
    return chosen(
        expand_study(document, changes, default_library(), kMaxPoints, filter_of(options.points), inspect_platform),
        options.points);
  }
}

bool can_be_read_again(const StudyOptions& options) {
  if (options.file.empty()) return true;
  using std::filesystem::file_type;
  std::error_code error;
  const file_type type = std::filesystem::status(file_of(options.file), error).type();
  return options.file != "-" && type != file_type::fifo && type != file_type::character && type != file_type::socket;
}

Study load_first(const StudyOptions& options) {
  const PointFilter wanted = options.points.empty() ? PointFilter() : filter_of(options.points);
  try {
    Study study = expand_study(document_of(options), overrides(options), default_library(), kMaxPoints, wanted,
                               inspect_platform, ReadPoints::first);
    if (!study.points.empty()) return study;
  } catch (const ScenarioError&) {  // the whole study tells all faults
  }
  return load(options);
}

void save_scenario(const StudyOptions& options, const std::string& path) {
  if (!options.file.empty())
    throw UsageError("--save",
                     fmt::format("{} is a file already; `stepcast show {} --full --set ...` writes it with changes",
                                 options.file, options.file));
  Document document = document_of(options);
  for (const Override& change : overrides(options)) apply(change, document);
  Json saved{{"$schema", (default_library() / "scenario.schema.json").string()}};
  saved.update(document.json);
  write_output(path, json_text(saved));
}

void require_one_point(const Study& study, std::string_view subcommand) {
  if (study.points.size() != 1)
    throw UsageError("scenario",
                     fmt::format("{} points, and {} is of one; choose by axis ({}), such as {}", study.points.size(),
                                 subcommand, fmt::join(study.axes, ", "), example_choice(study)));
}

void print_notes(const StudyOptions& options, const Study& study) {
  for (const std::string& note : study.notes) tell("stepcast: note: {}\n", note);
  const Cluster& cluster = study.points.front().scenario.cluster;
  const auto* nodes = std::get_if<Nodes>(&cluster.topology);
  if (nodes && nodes->nics > 1 && is_given(options.words, "--link"))
    tell("stepcast: note: --link is each NIC's: a machine of {} workers has {} NICs of {}; --set nics=1 for one\n",
         nodes->gpus_per_node, nodes->nics, human_text(cluster.link.bandwidth));
}

}  // namespace stepcast
