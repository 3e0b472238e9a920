// stepcast solve: finds along one field the best value for each point, and the values that reach a goal.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/search/solutions.hpp"
#include "models/study/alternatives.hpp"
#include "models/unit/parse.hpp"
#include "program/options.hpp"
#include "sim/answer/close_in.hpp"
#include "sim/program/along.hpp"
#include "sim/program/command.hpp"

namespace stepcast {
namespace {

/// Only a broken search takes more rounds. There are three questions, and each may halve a bracket in each round.
constexpr int kMostSolveRounds = 300;

struct SolveOptions : AlongOptions {
  std::string goal;
  double within = kNearBest;
};

/// The goal that --for gives, if any.
std::optional<Goal> read_goal(const std::string& text) {
  if (text.empty()) return {};
  return read_option("--for", [&] { return parse_goal(text); });
}

/// The searches of the points that the field changes.
struct Searches {
  std::vector<GoalSearch> searches;
  std::vector<std::size_t> points;  ///< the point of each search
};

Searches begin(const FieldPoints& points, const Field& field, const std::vector<double>& grid,
               const std::optional<double>& wanted, double near) {
  Searches all;
  for (std::size_t i = 0; i < points.points().size(); ++i) {
    if (points.is_constant(i)) continue;
    all.searches.emplace_back(field.range, grid, wanted, near);
    all.points.push_back(i);
  }
  if (all.searches.empty()) throw UsageError("--along", fmt::format("{}: every variant sets it itself", field.pointer));
  return all;
}

/// The memory notes of the answers' reports, each with its value.
Notes memory_notes(const Solutions& found, const FieldPoints& points, const std::vector<std::size_t>& which) {
  Notes notes;
  for (std::size_t i = 0; i < found.points.size(); ++i) {
    const GoalSearch& search = found.points[i].search;
    std::set<double> values;
    if (search.best().score > 0) values.insert(search.best().value);
    if (found.goal)
      for (const FieldInterval& one : search.reached()) values.insert({one.from, one.to});
    const std::vector<Coordinate>& at = found.points[i].coordinates;
    for (const double value : values)
      if (const std::optional<Note> note = points.memory_note(which[i], value))
        notes.push_back({note->code, fmt::format("{}{} {}: {}", at.empty() ? "" : label(at) + ", ", found.axis,
                                                 human_value(found.range, value), note->text)});
  }
  return notes;
}

Solutions find(const std::optional<Goal>& goal, double near, const Study& study, FieldPoints points, const Field& field,
               const std::vector<double>& grid) {
  Solutions found;
  points.answer_grid([&](const std::vector<PointReport>& reports) -> const Metric& {
    return read_option("--for",
                       [&]() -> const Metric& { return choose_metric(reports, goal ? goal->metric : nullptr); });
  });
  found.name = study.name;
  found.axis = points.axis();
  found.pointer = field.pointer;
  found.range = field.range;
  found.grid = grid.size();
  found.metric = &points.metric();
  if (goal) found.goal = goal->value;
  found.near = near;
  for (const std::string& axis : study.axes)
    if (axis != found.axis) found.axes.push_back(axis);
  Searches all =
      begin(points, field, grid, found.goal ? std::optional(score_of(*found.metric, *found.goal)) : std::nullopt, near);
  const auto search = [&](std::size_t i) -> GoalSearch& { return all.searches[i]; };
  const auto asked = [&](std::size_t i, double value) { return std::pair(all.points[i], value); };
  if (!close_in(points, all.searches.size(), search, asked, kMostSolveRounds))
    found.notes.push_back(
        {NoteCode::search_ended,
         fmt::format("the search ended after {} rounds with some values not closed in on", kMostSolveRounds)});
  for (std::size_t i = 0; i < all.searches.size(); ++i)
    found.points.push_back({points.points()[all.points[i]].coordinates, std::move(all.searches[i])});
  found.replayed = points.is_replayed();
  if (const std::size_t constant = points.points().size() - found.points.size(); constant > 0)
    found.notes.push_back(
        {NoteCode::point_left_out, fmt::format("{} point{} left out, whose variant sets {} itself", constant,
                                               constant == 1 ? " is" : "s are", found.axis)});
  found.notes.insert(found.notes.end(), points.notes().begin(), points.notes().end());
  const Notes of_memory = memory_notes(found, points, all.points);
  found.notes.insert(found.notes.end(), of_memory.begin(), of_memory.end());
  return found;
}

int solve(const SolveOptions& options, const Invocation& invocation) {
  const std::optional<Goal> goal = read_goal(options.goal);
  const auto search = [&](const Study& study, FieldPoints points, const Field& field, const std::vector<double>& grid) {
    const Solutions found = find(goal, options.within, study, std::move(points), field, grid);
    return SearchResult{to_text(found), to_csv(found),
                        [found](const Json& manifest) { return solutions_document(found, manifest); }};
  };
  return search_along(options, invocation, Baselines::kept, search);
}

}  // namespace

void add_solve(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand(
      "solve", "Find along one field the best value for each point, and the values that reach a goal");
  auto options = std::make_shared<SolveOptions>();
  add_along(command, *options, "study (JSON); - is standard input");
  command
      .add_option(
          "--for", options->goal,
          "the metric that matters (" + goal_names() +
              "), and how much of it will do: efficiency=0.9, step=100ms; without it the time to the run's target, the run's time, throughput or step time, the first that all points have")
      .type_name("METRIC[=VALUE]");
  command
      .add_option("--within", options->within,
                  "accepted loss, as a share of the best: 0.05 finds the values with 95 % of the best throughput")
      .check([](const std::string& text) -> std::string {
        const std::optional<double> share = parse_number(text);
        return share && *share >= 1e-6 && *share <= 0.999
                   ? ""
                   : fmt::format("\"{}\" is not a number from 1e-6 to 0.999", text);
      })
      .show_default();
  command.footer(
      "Example: stepcast solve pipe-sgd --along /cluster/link/bandwidth=100Mbps..100Gbps --for efficiency=0.9");
  command.callback([options, &invocation] { invocation.exit_code = solve(*options, invocation); });
}

}  // namespace stepcast
