// stepcast crossover: along one field, where each alternative pays and which is the fastest.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/report/crossover.hpp"
#include "models/scenario/document.hpp"
#include "models/scenario/library.hpp"
#include "sim/program/command.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/output.hpp"
#include "sim/program/study_options.hpp"
#include "sim/replay/processes.hpp"
#include "sim/study/evaluate_study.hpp"
#include "sim/study/replay_effort.hpp"

namespace stepcast {
namespace {

/// Of real numbers and quantities; of whole ones so many that most ranges are looked at in full.
constexpr std::size_t kGrid = 25, kWholeGrid = 64;
/// Beyond these a search has gone astray; the slowest, at a jump, halves its bracket in each.
constexpr int kMostRounds = 100;

struct CrossoverOptions {
  StudyOptions study;
  std::string along, csv, json;
  std::vector<std::string> among, over;
  std::optional<std::size_t> grid;
  int jobs = available_cores();
};

CLI::ValidationError refused(const char* option, const std::string& why) { return CLI::ValidationError(option, why); }

/// The field that is searched.
struct Along {
  std::string pointer;  ///< where the values are set
  std::string field;    ///< where they arrive in a point: the same, or what a pointer into one variant's changes leads to
  AxisRange range;
};

/// "/compressor/ratio" of "/variants/1/set/~1compressor/ratio".
std::string field_of(const std::string& pointer) {
  std::vector<std::string> tokens;
  try {
    for (Json::json_pointer rest(pointer); !rest.empty(); rest.pop_back()) tokens.insert(tokens.begin(), rest.back());
  } catch (const Json::exception&) {  // malformed, which is a fault where it is applied
    return pointer;
  }
  if (tokens.size() < 4 || tokens[0] != "variants" || tokens[2] != "set") return pointer;
  std::string field = tokens[3];
  for (std::size_t i = 4; i < tokens.size(); ++i) field = pointer_to(field, tokens[i]);
  return field;
}

Along read_along(const CrossoverOptions& options) {
  const auto equals = options.along.rfind('=');
  if (equals == std::string::npos || equals == 0) throw refused("--along", fmt::format("\"{}\" is not AXIS=FROM..TO, such as bandwidth=100Mbps..100Gbps", options.along));
  Along along{options.along.substr(0, equals), "", {}};
  try {
    along.range = parse_axis_range(std::string_view(options.along).substr(equals + 1));
  } catch (const std::invalid_argument& error) {
    throw refused("--along", error.what());
  }
  if (along.pointer == "variant") throw refused("--along", "variant: a name is no number; choose an axis of numbers, or the JSON pointer of a field that is one");
  along.field = field_of(along.pointer);
  if (along.pointer.starts_with('/')) return along;
  if (options.study.file == "-") throw refused("--along", fmt::format("{}: of a study from standard input, which is read once, give the axis' JSON pointer, such as /cluster/link/bandwidth", along.pointer));
  const Study study = load(options.study);
  const auto found = std::find(study.axes.begin(), study.axes.end(), along.pointer);
  if (found == study.axes.end()) {
    const std::string near = nearest(along.pointer, study.axes);
    throw refused("--along", fmt::format("{}: no axis of the study, which has {}; for a field that is none give its JSON pointer, such as /cluster/link/bandwidth{}", along.pointer,
                                         study.axes.empty() ? "none" : fmt::format("{}", fmt::join(study.axes, ", ")), near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  along.pointer = along.field = study.axis_pointers[static_cast<std::size_t>(found - study.axes.begin())];
  return along;
}

/// @param pointer  in the study, or in a point's own document
Override values_of(const Along& along, const std::string& pointer, const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(field_value(along.range, value));
  return {pointer, std::move(list), "--along", along.pointer};
}

/// What is wrong at many values, or in many points, is told of the first.
ScenarioError told_once(const ScenarioError& error, const std::string& pointer) {
  struct Alike {
    Fault first;
    std::size_t others = 0;
  };
  std::vector<Alike> all;
  for (Fault fault : error.faults()) {
    if (fault.file == "--along" && is_at_or_below(fault.pointer, pointer)) fault.pointer = pointer;  // less the number in the list, which nobody wrote
    const auto known = std::find_if(all.begin(), all.end(), [&](const Alike& one) { return one.first.file == fault.file && one.first.pointer == fault.pointer && one.first.allowed == fault.allowed; });
    if (known == all.end()) all.push_back({std::move(fault)});
    else ++known->others;
  }
  std::vector<Fault> faults;
  for (Alike& one : all) {
    if (one.others > 0) one.first.found += fmt::format(" (and {} more like it)", one.others);
    faults.push_back(std::move(one.first));
  }
  return ScenarioError(std::move(faults));
}

/// How a point's coordinate says a value of the field.
std::string coordinate_text(const AxisRange& range, double value) {
  const Json json = field_value(range, value);
  return json.is_string() ? json.get<std::string>() : json.dump();
}

/// A point to be asked at any value of the field: what the study has it for, less what is not asked here.
StudyPoint plain(StudyPoint point) {
  point.baseline.reset();
  point.baseline_phases.clear();
  const auto settle = [](Scenario& scenario) {
    scenario.baseline.reset();
    scenario.output = {};
    if (scenario.evaluation.evaluator == Evaluator::both) scenario.evaluation.evaluator = Evaluator::equations;
  };
  settle(point.scenario);
  std::for_each(point.phases.begin(), point.phases.end(), settle);
  return point;
}

/// All points of the study that differ in the field alone, and what is known of them.
struct Candidate {
  StudyPoint point;       ///< at the first value, its coordinate on the field left out
  bool constant = false;  ///< its variant sets the field itself
  std::map<double, double> worths;
};

/// Answers studies, collecting what their points say, each note once.
class Asker {
 public:
  explicit Asker(int jobs) : jobs_(jobs) {}
  std::vector<PointReport> ask(const Study& study) {
    if (const std::string announcement = announce_long_replays(study); !announcement.empty()) fmt::print(stderr, "stepcast: {} points: {}\n", study.points.size(), announcement);
    Report report = evaluate_study(study, jobs_);
    for (const PointReport& point : report.points)
      for (const std::string& note : point.notes)
        if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
    return std::move(report.points);
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  int jobs_;
  std::vector<std::string> notes_;
};

class Crossing {
 public:
  Crossing(const CrossoverOptions& options, Along along) : options_(options), along_(std::move(along)), asker_(options.jobs) {}

  /// @param study  at the values of the grid
  Crossovers find(Study study, const std::vector<double>& grid) {
    found_.name = study.name;
    found_.pointer = along_.pointer;
    found_.range = along_.range;
    found_.grid = grid.size();
    const auto at = std::find(study.axis_pointers.begin(), study.axis_pointers.end(), along_.field);
    if (at == study.axis_pointers.end()) throw refused("--along", fmt::format("{} takes no single number: a list of them makes no axis of the study", along_.pointer));
    found_.axis = study.axes[static_cast<std::size_t>(at - study.axis_pointers.begin())];

    for (StudyPoint& point : study.points) point = plain(std::move(point));
    std::map<std::string, double> values;
    for (const double value : grid) values[coordinate_text(along_.range, value)] = value;
    const std::vector<std::size_t> owners = collect_candidates(study, values);
    arrange_candidates(study);
    answer_grid(study, owners, values);
    begin_searches(grid);
    close_in();
    found_.notes.insert(found_.notes.end(), asker_.notes().begin(), asker_.notes().end());
    return std::move(found_);
  }

 private:
  /// The candidate of each point.
  /// @param values  of the grid, as points' coordinates say them
  std::vector<std::size_t> collect_candidates(const Study& study, const std::map<std::string, double>& values) {
    std::map<std::vector<std::string>, std::size_t> index;
    std::map<std::size_t, std::size_t> found;  // values of the grid by candidate
    std::vector<std::size_t> owners;
    for (const StudyPoint& point : study.points) {
      const std::string value = value_on(point.coordinates, found_.axis);
      std::vector<std::string> key;
      Candidate candidate{point, value.empty(), {}};
      std::erase_if(candidate.point.coordinates, [&](const Coordinate& c) { return c.axis == found_.axis; });
      for (const Coordinate& c : candidate.point.coordinates) key.insert(key.end(), {c.axis, c.value});
      const auto [entry, is_new] = index.try_emplace(std::move(key), candidates_.size());
      if (is_new) candidates_.push_back(std::move(candidate));
      owners.push_back(entry->second);
      if (values.contains(value)) ++found[entry->second];
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (!candidates_[i].constant && found[i] != values.size())
        throw refused("--along", fmt::format("{}: {} stands at {} of the {} values only: it has a list of its own there, or is impossible elsewhere; leave it out by --point, which keeps the others", along_.pointer, label(candidates_[i].point.coordinates), found[i], values.size()));
    return owners;
  }

  void arrange_candidates(const Study& study) {
    std::vector<StudyPoint> points;
    for (const Candidate& candidate : candidates_) points.push_back(candidate.point);
    found_.arrangement = arrange(study, points, alternative_axes(study), found_.axis);
    const Arrangement& a = found_.arrangement;
    if (a.alternatives.size() < 2)
      throw refused("--among", fmt::format("one alternative only ({}); name the axes whose values are to compete by --among: {}, or give a field several values by --set '/compressor=[{{\"kind\": \"none\"}}, {{\"kind\": \"fp16\"}}]'", label(a.alternatives.front()),
                                           a.situation_axes.empty() ? "the study has none" : fmt::format("the study has {}", fmt::join(a.situation_axes, ", "))));
    try {
      found_.reference = find_alternative(a, options_.over);
    } catch (const std::invalid_argument& error) {
      throw refused("--over", error.what());
    }
  }

  std::vector<std::string> alternative_axes(const Study& study) const {
    std::vector<std::string> axes;
    if (options_.among.empty()) axes = usual_alternatives(study);
    for (const std::string& name : options_.among) {
      const auto is_named = [&](std::size_t i) { return study.axes[i] == name || study.axis_pointers[i] == name; };
      std::size_t i = 0;
      while (i < study.axes.size() && !is_named(i)) ++i;
      if (i == study.axes.size()) {
        const std::string near = nearest(name, study.axes);
        throw refused("--among", fmt::format("{}: no axis of the study; it has {}{}", name, fmt::join(study.axes, ", "), near.empty() ? "" : fmt::format("; did you mean {}?", near)));
      }
      axes.push_back(study.axes[i]);
    }
    if (!options_.among.empty() && std::find(axes.begin(), axes.end(), found_.axis) != axes.end()) throw refused("--among", fmt::format("{}: what --along goes over is no axis of alternatives", found_.axis));
    std::erase(axes, found_.axis);
    return axes;
  }

  void answer_grid(const Study& study, const std::vector<std::size_t>& owners, const std::map<std::string, double>& values) {
    const std::vector<PointReport> reports = asker_.ask(study);
    found_.worth = choose_worth(reports);
    if (found_.worth == Worth::run_time && std::any_of(reports.begin(), reports.end(), [](const PointReport& p) { return p.run->to_target.has_value(); }))
      found_.notes.push_back("the time of the whole run is compared, not that to its target, which only some alternatives are known to reach");
    found_.replayed = std::any_of(reports.begin(), reports.end(), [](const PointReport& p) { return p.answers.replay.has_value(); });
    for (std::size_t i = 0; i < reports.size(); ++i) {
      Candidate& candidate = candidates_[owners[i]];
      const double worth = worth_of(found_.worth, reports[i]);
      if (!candidate.constant) candidate.worths[values.at(value_on(reports[i].coordinates, found_.axis))] = worth;
      else
        for (const auto& [text, value] : values) candidate.worths[value] = worth;
    }
  }

  /// One for each situation in which the reference has a rival.
  void begin_searches(const std::vector<double>& grid) {
    std::size_t lonely = 0;
    for (std::size_t s = 0; s < found_.arrangement.situations.size(); ++s) {
      std::map<std::size_t, std::size_t> rivals;  // candidate by alternative
      for (const Contest& contest : found_.arrangement.contests)
        if (contest.situation == s) rivals[contest.alternative] = contest.point;
      if (rivals.size() < 2 || !rivals.contains(found_.reference)) {
        ++lonely;
        continue;
      }
      std::vector<std::size_t> alternatives, here;
      for (const auto& [alternative, candidate] : rivals) {
        alternatives.push_back(alternative);
        here.push_back(candidate);
      }
      const auto reference = static_cast<std::size_t>(std::distance(rivals.begin(), rivals.find(found_.reference)));
      found_.situations.push_back({found_.arrangement.situations[s], alternatives, CrossoverSearch(along_.range, grid, alternatives.size(), reference)});
      contestants_.push_back(std::move(here));
    }
    const std::string reference = label(found_.arrangement.alternatives[found_.reference]);
    if (found_.situations.empty()) throw refused("--over", fmt::format("in no situation {} has another alternative beside it; choose another reference", reference));
    if (lonely > 0) found_.notes.push_back(fmt::format("{} situation{} left out, where {} does not stand or has no other alternative beside it", lonely, lonely == 1 ? " is" : "s are", reference));
  }

  void close_in() {
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<std::vector<CrossoverSearch::Request>> requests;
      std::map<std::size_t, std::set<double>> unknown;  // values by candidate
      bool any = false;
      for (std::size_t s = 0; s < found_.situations.size(); ++s) {
        requests.push_back(found_.situations[s].search.requests());
        any |= !requests.back().empty();
        for (const auto& [alternative, value] : requests.back()) {
          Candidate& candidate = candidates_[contestants_[s][alternative]];
          if (candidate.constant) candidate.worths[value] = candidate.worths.begin()->second;
          if (!candidate.worths.contains(value)) unknown[contestants_[s][alternative]].insert(value);
        }
      }
      if (!any) return;
      evaluate(unknown);
      for (std::size_t s = 0; s < found_.situations.size(); ++s) {
        std::vector<double> worths;
        for (const auto& [alternative, value] : requests[s]) worths.push_back(candidates_[contestants_[s][alternative]].worths.at(value));
        found_.situations[s].search.answer(requests[s], worths);
      }
    }
    found_.notes.push_back(fmt::format("the search ended after {} rounds with some changes not closed in on", kMostRounds));
  }

  /// Expands each candidate at its own values, which are few, instead of the whole study at all of them.
  void evaluate(const std::map<std::size_t, std::set<double>>& unknown) {
    Study batch;
    std::vector<std::pair<std::size_t, double>> asked;
    for (const auto& [which, set] : unknown) {
      const StudyPoint& base = candidates_[which].point;
      const std::vector<double> values(set.begin(), set.end());
      Study some = expanded(base, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        StudyPoint point = plain(std::move(some.points.at(i)));
        point.coordinates = base.coordinates;
        point.coordinates.push_back({found_.axis, coordinate_text(along_.range, values[i])});
        batch.points.push_back(std::move(point));
        asked.emplace_back(which, values[i]);
      }
    }
    if (batch.points.empty()) return;
    const std::vector<PointReport> reports = asker_.ask(batch);
    for (std::size_t i = 0; i < asked.size(); ++i) candidates_[asked[i].first].worths[asked[i].second] = worth_of(found_.worth, reports[i]);
  }

  Study expanded(const StudyPoint& base, const std::vector<double>& values) const {
    try {
      return expand_study({to_json(base.scenario), Origins(options_.study.file)}, {values_of(along_, along_.field, values)}, default_library());
    } catch (const ScenarioError& error) {  // of a value that the grid passed over
      std::vector<std::string> texts;
      for (const double value : values) texts.push_back(coordinate_text(along_.range, value));
      std::vector<Fault> faults = error.faults();
      for (Fault& fault : faults) fault.found += fmt::format(" (in {}, {} {})", label(base.coordinates), found_.axis, fmt::join(texts, " or "));
      throw ScenarioError(std::move(faults));
    }
  }

  const CrossoverOptions& options_;
  Along along_;
  Asker asker_;
  Crossovers found_;
  std::vector<Candidate> candidates_;
  std::vector<std::vector<std::size_t>> contestants_;  ///< of each situation: its alternatives' candidates
};

/// A point is chosen by the other axes.
void refuse_points_along(const CrossoverOptions& options, const std::string& pointer) {
  for (const std::string& choice : options.study.points)
    if (const std::string axis = choice.substr(0, choice.find('=')); axis == pointer || axis == pointer.substr(pointer.rfind('/') + 1)) throw refused("--point", fmt::format("{}: --along goes over this axis; leave one of the two out", choice));
}

int crossover(const CrossoverOptions& options, const Along& along, const Invocation& invocation) {
  refuse_points_along(options, along.field);
  const std::vector<double> grid = grid_values(along.range, options.grid.value_or(along.range.whole ? kWholeGrid : kGrid));
  Study study = load(options.study, {values_of(along, along.pointer, grid)});
  print_notes(study);
  Study first = study;  // for the manifest: all other points differ from these in the field alone
  const Crossovers found = Crossing(options, along).find(std::move(study), grid);
  if (options.json != "-" && options.csv != "-") write_output("-", to_text(found));
  if (!options.csv.empty()) write_output(options.csv, to_csv(found));
  if (!options.json.empty()) {
    const std::string start = coordinate_text(along.range, grid.front());
    std::erase_if(first.points, [&](const StudyPoint& point) {
      const std::string value = value_on(point.coordinates, found.axis);
      return !value.empty() && value != start;
    });
    write_output(options.json, crossover_document(found, make_manifest(first, invocation.arguments)).dump(1) + "\n");
  }
  return kOk;
}

int crossover(const CrossoverOptions& options, const Invocation& invocation) {
  check_outputs({options.study.file}, {options.csv, options.json});
  const Along along = read_along(options);
  try {
    return crossover(options, along, invocation);
  } catch (const ScenarioError& error) {
    throw told_once(error, along.pointer);
  }
}

}  // namespace

void add_crossover(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("crossover", "Find, along one field, where each alternative pays and which is the fastest");
  auto options = std::make_shared<CrossoverOptions>();
  command->add_option("study", options->study.file, "study (JSON) with two alternatives or more; - is standard input")->required();
  command->add_option("--along", options->along, "the field, an axis of the study or a JSON pointer, and its ends: bandwidth=100Mbps..100Gbps, /cluster/workers=2..64 (two whole numbers: whole numbers only)")->required()->type_name("AXIS=FROM..TO");
  command->add_option("--among", options->among, "an axis whose values compete (repeatable); without it variants, and axes of strategy, compressor, codec and /workload/variant; all other axes make situations, each with its own answer")->type_name("AXIS")->allow_extra_args(false);
  command->add_option("--over", options->over, "the alternative that others are compared with (repeatable); without it the study's first")->type_name("AXIS=VALUE")->allow_extra_args(false);
  command->add_option("--grid", options->grid, "values evaluated before changes between them are closed in on, 25 or up to 64 whole numbers without it; two changes within one step of them are not seen")->check(CLI::Range(2, 100000))->type_name("N");
  add_sets(*command, options->study);
  add_points(*command, options->study);
  command->add_option("--evaluator", options->study.evaluator, "equations or replay; without it the scenario's, and equations where that is both")->check(CLI::IsMember({"equations", "replay"}))->type_name("NAME");
  command->add_option("--csv", options->csv, "write CSV; - is standard output, instead of the table")->type_name("PATH");
  command->add_option("--json", options->json, "write JSON with its manifest and all that was evaluated; - is standard output, instead of the table")->type_name("PATH");
  command->add_option("--jobs", options->jobs, "replay processes at a time")->check(CLI::Range(1, 1024))->capture_default_str();
  command->footer("Example: stepcast crossover scenarios/pipe-sgd.json --along /cluster/link/bandwidth=100Mbps..100Gbps");
  command->callback([options, &invocation] { invocation.exit_code = crossover(*options, invocation); });
}

}  // namespace stepcast
