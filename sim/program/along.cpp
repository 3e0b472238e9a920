#include "sim/program/along.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/describe/fault.hpp"
#include "models/describe/json.hpp"
#include "models/scenario/origins.hpp"
#include "models/scenario/override.hpp"
#include "models/study/axis_range.hpp"
#include "models/study/find_field.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/program/manifest.hpp"
#include "sim/program/output.hpp"
#include "sim/program/point_progress.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

/// For real numbers and quantities, the default; for discrete ranges, enough to look at most in full.
constexpr std::size_t kGrid = 25, kDiscreteGrid = 64;

/// The other axes choose a point.
void refuse_points_along(const StudyOptions& options, const std::string& place) {
  for (const std::string& choice : options.points)
    if (const std::string axis = choice.substr(0, choice.find('='));
        axis == place || axis == place.substr(place.rfind('/') + 1))
      throw UsageError("--point", fmt::format("{}: --along goes over this axis; leave one of the two out", choice));
}

/// The field and its ends; the study is searched for an axis of that name.
Field read_along(const AlongOptions& options) {
  const auto equals = options.along.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--along",
                     fmt::format("\"{}\" is not AXIS=FROM..TO, such as bandwidth=100Mbps..100Gbps", options.along));
  std::string pointer = options.along.substr(0, equals);
  if (pointer == "variant")
    throw UsageError(
        "--along",
        "variant: a name is no number; choose an axis of numbers, or the JSON pointer of a field that is one");
  if (!pointer.starts_with('/')) {
    if (!can_be_read_again(options.study))
      throw UsageError(
          "--along",
          fmt::format(
              "{}: of a study from standard input or a pipe, which is read once, give the axis' JSON pointer, such as /cluster/link/bandwidth",
              pointer));
    const Study study = load_first(options.study);
    pointer = read_option("--along", [&] { return find_field(study, pointer); });
  }
  Field field = read_option(
      "--along", [&] { return field_at(std::move(pointer), std::string_view(options.along).substr(equals + 1)); });
  refuse_points_along(options.study, field.place);
  return field;
}

/// The values that are evaluated first.
std::vector<double> first_values(const AlongOptions& options, const Field& field) {
  std::vector<double> values =
      grid_values(field.range, options.grid.value_or(field.range.is_discrete() ? kDiscreteGrid : kGrid));
  if (!field.range.whole) return values;
  // Some algorithms are best at powers of two, and worse on either side.
  for (double power = 1; power <= field.range.to; power *= 2)
    if (const double steps = field.range.steps_to(power);
        power > field.range.from && std::abs(steps - std::round(steps)) < 1e-9)
      values.push_back(field.range.after(std::round(steps)));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// The study at some values of the field, and its points.
struct FieldStudy {
  /// At the first value alone, for the manifest. All other points differ from these in the field alone.
  Study at_first;
  FieldPoints points;
};

/// The study at all values of the grid, and at its first value.
std::pair<Study, Study> load_grid(const StudyOptions& options, const std::vector<double>& grid, FieldExpander& expander,
                                  Baselines baselines) {
  const StudyAt& study_at = expander.study_at();
  if (can_be_read_again(options) && expander.keeps_documents()) {
    try {
      Study first = study_at({grid.front()}), last = study_at({grid.back()});
      if (auto all = expander.study_between(first, std::move(last), grid, baselines))
        return {*std::move(all), std::move(first)};
    } catch (const ScenarioError&) {  // the whole study tells which values and points have which faults
    }
  }
  Study all = study_at(grid), first = all;
  if (const std::optional<std::size_t> number = axis_at(all, expander.field().place)) {
    const std::string start = coordinate_text(expander.field().range, grid.front());
    std::erase_if(first.points, [&](const StudyPoint& point) {
      const std::string value = value_on(point.coordinates, all.axes[*number]);
      return !value.empty() && value != start;
    });
  }
  return {std::move(all), std::move(first)};
}

FieldStudy load_along(const AlongOptions& options, const Field& field, const std::vector<double>& grid,
                      Baselines baselines) {
  const auto study_at = [&options, field, is_first = true](const std::vector<double>& values) mutable {
    if (!std::exchange(is_first, false) && !can_be_read_again(options.study))
      throw UsageError("study",
                       "standard input and pipes are read once, and phases or baselines of this search need the study "
                       "again; give a file");
    return load(options.study, {values_of(field, field.pointer, values)});
  };
  auto expander = std::make_unique<FieldExpander>(field, source_of(options.study), study_at);
  auto [all, first] = load_grid(options.study, grid, *expander, baselines);
  print_notes(options.study, all);
  return {std::move(first), read_option("--along", [&, &study = all] {
            return FieldPoints(std::move(study), grid, std::move(expander), baselines, options.jobs, shown_progress());
          })};
}

/// Reports a fault of many values or points once, for the first of them.
/// @param values  the tried values of the field
ScenarioError told_once(const ScenarioError& error, const Field& field, std::size_t values) {
  struct Alike {
    Fault first;
    std::size_t others = 0;
  };
  std::vector<Alike> all;
  for (Fault fault : error.faults()) {
    if (fault.file == "--along" && is_at_or_below(fault.pointer, field.pointer))
      fault.pointer = field.pointer;  // without the number in the list, which the user did not write
    const auto known = std::find_if(all.begin(), all.end(), [&](const Alike& one) {
      return one.first.file == fault.file && one.first.pointer == fault.pointer && one.first.allowed == fault.allowed;
    });
    if (known == all.end()) all.push_back({std::move(fault)});
    else ++known->others;
  }
  std::vector<Fault> faults;
  for (Alike& one : all) {
    if (one.others > 0) one.first.found += fmt::format(" (and {} more like it)", one.others);
    const bool of_some_values =
        one.first.file == "--along" && one.first.pointer == field.pointer && one.others > 0 && one.others + 1 < values;
    if (of_some_values && field.range.whole && field.range.step == 1 && one.first.remedy.empty())
      one.first.remedy = "go in steps that lead to possible ones: FROM..TO:STEP or FROM..TO:xFACTOR";
    faults.push_back(std::move(one.first));
  }
  return ScenarioError(std::move(faults));
}

}  // namespace

void add_along(Command& command, AlongOptions& options, const std::string& study_help) {
  options.jobs = available_cores();
  add_scenario(command, options.study, "study", study_help);
  command
      .add_option(
          "--along", options.along,
          "the field, by its JSON pointer or the last part of it, and its ends: bandwidth=100Mbps..100Gbps, "
          "/cluster/workers=2..64 (whole numbers if the field takes no others); in steps, workers=8..64:8, or by a "
          "factor, workers=2..64:x2")
      .required()
      .type_name("AXIS=FROM..TO[:STEP]");
  command
      .add_option(
          "--grid", options.grid,
          "values evaluated before changes between them are closed in on, 25, or up to 64 of whole numbers and steps, without it; two changes within one step of them are not seen")
      .between(2, 100000)
      .type_name("N");
  add_sets(command, options.study);
  add_points(command, options.study);
  command
      .add_option("--evaluator", options.study.evaluator,
                  "auto, equations or replay; by default the scenario's, and auto if that is both")
      .one_of({"auto", "equations", "replay"})
      .type_name("NAME");
  command.add_option("--csv", options.csv, "write CSV; - is standard output, instead of the table").type_name("PATH");
  command
      .add_option("--json", options.json,
                  "write JSON with its manifest and all that was evaluated; - is standard output, instead of the table")
      .type_name("PATH");
  add_jobs(command, options.jobs);
}

int search_along(const AlongOptions& options, const Invocation& invocation, Baselines baselines,
                 const SearchAlong& search) {
  check_outputs({options.study.file}, {options.csv, options.json});
  const Field field = read_along(options);
  const std::vector<double> grid = first_values(options, field);
  try {
    FieldStudy study = load_along(options, field, grid, baselines);
    const SearchResult found = search(study.at_first, std::move(study.points), field, grid);
    if (options.json != "-" && options.csv != "-") write_output("-", found.table);
    if (!options.csv.empty()) write_output(options.csv, found.csv);
    if (!options.json.empty())
      write_output(options.json, json_text(found.document(make_manifest(study.at_first, invocation.arguments))));
    return kOk;
  } catch (const ScenarioError& error) {
    throw told_once(error, field, grid.size());
  }
}

}  // namespace stepcast
