// stepcast crossover: finds along one field where each alternative pays, and which one is the fastest.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/report/other_trainings.hpp"
#include "models/search/crossover.hpp"
#include "models/study/find_axis.hpp"
#include "program/options.hpp"
#include "program/streams.hpp"
#include "sim/answer/close_in.hpp"
#include "sim/program/along.hpp"
#include "sim/program/command.hpp"
#include "sim/program/slow_kernels.hpp"
#include "sim/replay/processes.hpp"

namespace stepcast {
namespace {

/// Only a broken search takes more rounds. The slowest, at a jump, halves its bracket in each round.
constexpr int kMostCrossoverRounds = 100;

struct CrossoverOptions : AlongOptions {
  std::vector<std::string> among, over;
};

class Crossing {
 public:
  Crossing(const CrossoverOptions& options, FieldPoints points) : options_(options), points_(std::move(points)) {}

  /// @param study  the points' study
  Crossovers find(const Study& study, const Field& field, const std::vector<double>& grid) {
    found_.name = study.name;
    found_.pointer = field.pointer;
    found_.range = field.range;
    found_.grid = grid.size();
    found_.axis = points_.axis();
    arrange_points(study);
    points_.answer_grid([&](const std::vector<PointReport>& reports) -> const Metric& { return metric_by(reports); });
    begin_searches(grid);
    compare_trainings(study);
    search();
    found_.replayed = points_.is_replayed();
    found_.notes.insert(found_.notes.end(), points_.notes().begin(), points_.notes().end());
    return std::move(found_);
  }

 private:
  void arrange_points(const Study& study) {
    found_.arrangement = arrange(study, points_.points(), alternative_axes(study), found_.axis);
    const Arrangement& a = found_.arrangement;
    if (a.alternatives.size() < 2)
      throw UsageError(
          "--among",
          fmt::format(
              "one alternative only ({}); name the axes whose values are to compete by --among: {}, or give a field several values by --set '/compressor=[{{\"kind\": \"none\"}}, {{\"kind\": \"fp16\"}}]'",
              label(a.alternatives.front()),
              a.situation_axes.empty() ? "the study has none"
                                       : fmt::format("the study has {}", fmt::join(a.situation_axes, ", "))));
    found_.reference = read_option("--over", [&] { return find_alternative(a, options_.over); });
  }

  std::vector<std::string> alternative_axes(const Study& study) const {
    std::vector<std::string> axes;
    if (options_.among.empty()) axes = usual_alternatives(study);
    for (const std::string& name : options_.among)
      axes.push_back(study.axes[read_option("--among", [&] { return find_axis(study, name); })]);
    if (!options_.among.empty() && std::find(axes.begin(), axes.end(), found_.axis) != axes.end())
      throw UsageError("--among",
                       fmt::format("{}: the field of --along cannot be an axis of alternatives", found_.axis));
    std::erase(axes, found_.axis);
    return axes;
  }

  const Metric& metric_by(const std::vector<PointReport>& reports) {
    found_.metric = &choose_metric(reports);
    if (found_.metric == &find_metric("run") &&
        std::any_of(reports.begin(), reports.end(), [](const PointReport& p) { return p.run->to_target.has_value(); }))
      found_.notes.push_back(
          {NoteCode::target_not_compared,
           "the time of the whole run is compared, not that to its target, which only some alternatives are known to reach"});
    return *found_.metric;
  }

  /// One for each situation in which the reference has a rival.
  void begin_searches(const std::vector<double>& grid) {
    std::size_t lonely = 0;
    for (std::size_t s = 0; s < found_.arrangement.situations.size(); ++s) {
      std::map<std::size_t, std::size_t> rivals;  // point by alternative
      for (const Contest& contest : found_.arrangement.contests)
        if (contest.situation == s) rivals[contest.alternative] = contest.point;
      if (rivals.size() < 2 || !rivals.contains(found_.reference)) {
        ++lonely;
        continue;
      }
      std::vector<std::size_t> alternatives, here;
      for (const auto& [alternative, point] : rivals) {
        alternatives.push_back(alternative);
        here.push_back(point);
      }
      const auto reference = static_cast<std::size_t>(std::distance(rivals.begin(), rivals.find(found_.reference)));
      found_.situations.push_back({found_.arrangement.situations[s], alternatives,
                                   CrossoverSearch(found_.range, grid, alternatives.size(), reference)});
      contestants_.push_back(std::move(here));
    }
    const std::string reference = label(found_.arrangement.alternatives[found_.reference]);
    if (found_.situations.empty())
      throw UsageError(
          "--over",
          fmt::format("in no situation {} has another alternative beside it; choose another reference", reference));
    if (lonely > 0)
      found_.notes.push_back(
          {NoteCode::point_left_out,
           fmt::format("{} situation{} left out, where {} is missing or has no alternative beside it", lonely,
                       lonely == 1 ? " is" : "s are", reference)});
  }

  /// Alternatives that train otherwise may reach another accuracy.
  void compare_trainings(const Study& study) {
    if (std::string note = note_of_trainings(study, found_.arrangement.situation_axes); !note.empty())
      found_.notes.push_back({NoteCode::other_trainings, std::move(note)});
  }

  void search() {
    const auto of_situation = [&](std::size_t s) -> CrossoverSearch& { return found_.situations[s].search; };
    const auto asked = [&](std::size_t s, const CrossoverSearch::Request& request) {
      return std::pair(contestants_[s][request.alternative], request.value);
    };
    if (!close_in(points_, found_.situations.size(), of_situation, asked, kMostCrossoverRounds))
      found_.notes.push_back(
          {NoteCode::search_ended,
           fmt::format("the search ended after {} rounds with some changes not closed in on", kMostCrossoverRounds)});
    for (std::size_t s = 0; s < found_.situations.size(); ++s)
      for (const std::size_t point : contestants_[s]) found_.situations[s].stack.push_back(stack_shares(point));
  }

  StackShares stack_shares(std::size_t point) const {
    const auto least_first = [](const auto& a, const auto& b) { return a.second < b.second; };
    const std::map<double, double>& shares = points_.stack_shares(point);
    const auto [least, most] = std::minmax_element(shares.begin(), shares.end(), least_first);
    return {least->second, most->second};
  }

  const CrossoverOptions& options_;
  FieldPoints points_;
  Crossovers found_;
  std::vector<std::vector<std::size_t>> contestants_;  ///< for each situation, the points of its alternatives
};

/// The answer with kernels composed of a framework's operations, to stand below the one with fused kernels.
std::string slow_end(const CrossoverOptions& options, FieldPoints slow, const Study& study, const Field& field,
                     const std::vector<double>& grid) {
  Crossovers found = Crossing(options, std::move(slow)).find(study, field, grid);
  found.notes.clear();  // the answer above has them
  return fmt::format("\nwith compressors' kernels {} times as slow, as composed of a framework's operations\n{}",
                     kComposedSlowdown, to_text(found));
}

/// The answer of the pool's only child; nothing if it failed.
std::optional<std::string> result_of(ProcessPool& pool) {
  std::vector<ChildAnswer> ended;
  while (ended.empty()) ended = pool.wait(-1);
  if (!ended.front().error.empty()) return {};
  return std::move(ended.front().bytes);
}

int crossover(const CrossoverOptions& options, const Invocation& invocation) {
  const bool is_read_by_program = options.csv == "-" || options.json == "-";
  const auto search = [&](const Study& study, FieldPoints points, const Field& field, const std::vector<double>& grid) {
    std::optional<FieldPoints> slow;
    if (!is_read_by_program && options.study.file != "-" && may_have_slow_kernels(study) &&
        field.pointer != "/codec/slowdown")
      slow = points.changed(slow_down_kernels);
    // Both ends take as long, so the slow one has a process of its own, and half of the jobs.
    ProcessPool beside(1);
    if (slow && options.jobs > 1) {
      slow->use_jobs(options.jobs / 2);
      points.use_jobs(options.jobs - options.jobs / 2);
      beside.start(0, [&] {
        slow->hide_progress();
        return slow_end(options, *std::move(slow), study, field, grid);
      });
    }
    const Crossovers found = Crossing(options, std::move(points)).find(study, field, grid);
    std::string table = to_text(found);
    std::optional<std::string> below = beside.empty() ? std::nullopt : result_of(beside);
    // A child's error is words alone, so a search that failed there fails here again.
    if (slow && !below) below = slow_end(options, *std::move(slow), study, field, grid);
    if (below) table += *below;
    return SearchResult{std::move(table), to_csv(found),
                        [found](const Json& manifest) { return crossover_document(found, manifest); }};
  };
  return search_along(options, invocation, Baselines::dropped, search);
}

}  // namespace

void add_crossover(Command& program, Invocation& invocation) {
  Command command = program.add_subcommand(
      "crossover", "Find along one field where each alternative pays, and which one is the fastest");
  auto options = std::make_shared<CrossoverOptions>();
  add_along(command, *options, "study (JSON) with two alternatives or more; - is standard input");
  command
      .add_option(
          "--among", options->among,
          "an axis whose values compete (repeatable); without it variants, and axes of strategy, compressor, codec and /workload/variant; all other axes make situations, each with its own answer")
      .type_name("AXIS")
      .one_value_a_time();
  command
      .add_option("--over", options->over,
                  "the alternative that others are compared with (repeatable); without it the study's first")
      .type_name("AXIS=VALUE")
      .one_value_a_time();
  command.footer("Example: stepcast crossover pipe-sgd --along /cluster/link/bandwidth=100Mbps..100Gbps");
  command.callback([options, &invocation] { invocation.exit_code = crossover(*options, invocation); });
}

}  // namespace stepcast
