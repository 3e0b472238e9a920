#include "models/report/answer_sentence.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/report/goal.hpp"
#include "models/report/other_trainings.hpp"
#include "models/scenario/origins.hpp"
#include "models/study/alternatives.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

/// Studies with more points are not arranged, which takes the square of their number.
constexpr std::size_t kMostArranged = 3000;
/// Scores this close are equally good.
constexpr double kEqual = 1e-6;

/// "is the fastest", as the metric has it.
std::string_view wins(const Metric& metric) {
  if (metric.compared.goal == "run") return "has the shortest run";
  if (metric.compared.goal == "target") return "reaches the target first";
  return "is the fastest";
}

/// "187.9 ms a step, 8.26x, 48.4 % of it exposed communication"; of a run "6 min 58 s, 2.21x, 52.4 ms a step"
std::string figures_of(const PointReport& p) {
  const StepForecast& forecast = p.answers.shown();
  const auto times = [](const std::optional<double>& speedup) {
    if (!speedup) return std::string();
    return fmt::format(", {:.3g}x{}", *speedup, *speedup < 1 ? " (slower than its baseline)" : "");
  };
  std::string step = fmt::format("{} a step", human_text(forecast.step));
  if (p.run) return fmt::format("{}{}, {}", run_text(p.run->time), times(p.run->speedup), step);
  if (p.samples_per_second == 0 && p.busbw) return fmt::format("{}, busbw {}", step, kBandwidth.text(p.busbw->si()));
  if (p.workers < 2) return step;
  const Breakdown& parts = forecast.breakdown;
  const std::string stack =
      parts.stack > Seconds{} ? fmt::format(" and {} the stack's", share(parts.stack, forecast.step)) : "";
  return fmt::format("{}{}, {} of it exposed communication{}", step, times(p.speedup),
                     share(parts.exposed_communication, forecast.step), stack);
}

/// "workers 16, bandwidth 10Gbps"
std::string place_of(const std::vector<Coordinate>& coordinates) {
  std::vector<std::string> parts;
  parts.reserve(coordinates.size());
  for (const Coordinate& c : coordinates) parts.push_back(fmt::format("{} {}", c.axis, c.value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "8 workers", "bandwidth 10Gbps"
std::string value_text(const std::string& axis, const std::string& value) {
  return axis == "workers" ? fmt::format("{} worker{}", value, value == "1" ? "" : "s")
                           : fmt::format("{} {}", axis, value);
}

/// The axes of alternatives. The size of a collective is no choice, and neither is what kernels are assumed to take.
std::vector<std::string> choices_of(const Study& study) {
  std::vector<std::string> axes = usual_alternatives(study);
  for (std::size_t i = 0; i < study.axes.size(); ++i)
    for (const char* given : {"/strategy/size", "/codec/device", "/codec/slowdown"})
      if (is_at_or_below(study.axis_pointers[i], given)) std::erase(axes, study.axes[i]);
  return axes;
}

/// The reports by the number of their point; null for a point without an answer.
std::vector<const PointReport*> reports_of(const Study& study, const Report& report) {
  std::vector<const PointReport*> reports(study.points.size());
  std::size_t answered = 0, failed = 0;
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (failed < report.failed.size() && report.failed[failed].index == i) ++failed;
    else reports[i] = &report.points[answered++];
  return reports;
}

/// The alternatives' scores in each situation, and who wins it.
struct Scores {
  Arrangement arrangement;
  /// By situation: the winners, equals among them. Situations in which no alternative has a score are empty.
  std::vector<std::vector<std::size_t>> winners;
  std::size_t decided = 0;  ///< situations with a winner

  Scores(const Study& study, const std::vector<const PointReport*>& reports, const Metric& metric)
      : arrangement(arrange(study, study.points, choices_of(study), "")), winners(arrangement.situations.size()) {
    std::vector<double> score;
    score.reserve(reports.size());
    for (const PointReport* p : reports) score.push_back(p ? score_of(metric, *p) : 0);
    std::vector<double> best(winners.size());
    for (const Contest& c : arrangement.contests) best[c.situation] = std::max(best[c.situation], score[c.point]);
    for (const Contest& c : arrangement.contests)
      if (score[c.point] > 0 && score[c.point] >= best[c.situation] * (1 - kEqual))
        winners[c.situation].push_back(c.alternative);
    decided = static_cast<std::size_t>(
        std::count_if(winners.begin(), winners.end(), [](const auto& some) { return !some.empty(); }));
  }

  [[nodiscard]] bool wins(std::size_t alternative, std::size_t situation) const {
    const auto& some = winners[situation];
    return some.empty() || std::find(some.begin(), some.end(), alternative) != some.end();
  }
  [[nodiscard]] std::string name(std::size_t alternative) const { return label(arrangement.alternatives[alternative]); }
};

/// Who wins for an interval of an axis' values.
struct Reign {
  std::size_t alternative, first, last;
};

/// The winners by the values of one axis, if they depend on nothing else and change at most twice.
std::optional<std::vector<Reign>> reigns_along(const Scores& scores, const std::string& axis,
                                               const std::vector<std::string>& values) {
  std::vector<Reign> reigns;
  for (std::size_t v = 0; v < values.size(); ++v) {
    const auto wins_here = [&](std::size_t alternative) {
      for (std::size_t s = 0; s < scores.winners.size(); ++s)
        if (value_on(scores.arrangement.situations[s], axis) == values[v] && !scores.wins(alternative, s)) return false;
      return true;
    };
    if (!reigns.empty() && wins_here(reigns.back().alternative)) {
      reigns.back().last = v;
      continue;
    }
    std::size_t next = 0;
    while (next < scores.arrangement.alternatives.size() && !wins_here(next)) ++next;
    if (next == scores.arrangement.alternatives.size() || reigns.size() == 3) return {};
    reigns.push_back({next, v, v});
  }
  return reigns;
}

bool are_numbers(const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(), [](const std::string& value) {
    return !value.empty() && value.front() >= '0' && value.front() <= '9';
  });
}

/// "up to 4 workers", "from 8 workers on", "for alexnet"
std::string reign_text(const std::string& axis, const std::vector<std::string>& values, const Reign& reign) {
  if (!are_numbers(values)) return "for " + values[reign.first];
  const std::string first = value_text(axis, values[reign.first]), last = value_text(axis, values[reign.last]);
  const bool from_start = reign.first == 0, to_end = reign.last + 1 == values.size();
  if (reign.first == reign.last && !to_end) return "at " + first;
  if (from_start) return "up to " + last;
  return to_end ? fmt::format("from {} on", first) : fmt::format("from {} to {}", first, last);
}

/// "A is the fastest in 34 of 42 cases, B in 8"
std::string by_counts(const Scores& scores, std::string_view verb) {
  std::vector<std::size_t> won(scores.arrangement.alternatives.size());
  for (const auto& some : scores.winners)
    if (!some.empty()) ++won[some.front()];
  std::vector<std::size_t> order;
  for (std::size_t a = 0; a < won.size(); ++a)
    if (won[a] > 0) order.push_back(a);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return won[a] > won[b]; });
  std::string text = fmt::format("{} {} in {} of {} cases", scores.name(order[0]), verb, won[order[0]], scores.decided);
  for (std::size_t i = 1; i < std::min<std::size_t>(order.size(), 3); ++i)
    text += fmt::format(", {} in {}", scores.name(order[i]), won[order[i]]);
  if (order.size() > 3) text += ", others in the rest";
  return text;
}

/// "; 37.8x on 64 workers": the best speedup of an alternative on the most workers.
std::string scaling_text(const Scores& scores, std::size_t alternative,
                         const std::vector<const PointReport*>& reports) {
  const PointReport* top = nullptr;
  for (const Contest& c : scores.arrangement.contests) {
    const PointReport* p = reports[c.point];
    if (c.alternative != alternative || !p || !p->speedup || p->workers < 2 || p->run) continue;
    if (!top || std::pair(p->workers, *p->speedup) > std::pair(top->workers, *top->speedup)) top = p;
  }
  return !top ? "" : fmt::format("; {:.3g}x on {} workers", *top->speedup, top->workers);
}

/// The alternative that wins everywhere, if there is one.
std::optional<std::size_t> winner_of_all(const Scores& scores) {
  for (std::size_t alternative = 0; alternative < scores.arrangement.alternatives.size(); ++alternative) {
    bool always = true;
    for (std::size_t s = 0; s < scores.winners.size(); ++s) always &= scores.wins(alternative, s);
    if (always) return alternative;
  }
  return {};
}

/// "A is the fastest up to 4 workers, B from 8 workers on", if one axis alone decides; else "".
std::string by_axis(const Study& study, const Scores& scores, std::string_view verb,
                    const std::vector<const PointReport*>& reports) {
  const std::vector<std::string>& own = scores.arrangement.situation_axes;
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    const std::string& axis = study.axes[i];
    const std::vector<std::string>& values = study.axis_values[i];
    if (std::find(own.begin(), own.end(), axis) == own.end()) continue;
    const auto reigns = reigns_along(scores, axis, values);
    if (!reigns || (!are_numbers(values) && reigns->size() < values.size())) continue;
    std::vector<std::string> parts;
    for (const Reign& reign : *reigns)
      parts.push_back(fmt::format("{}{} {}", scores.name(reign.alternative),
                                  parts.empty() ? fmt::format(" {}", verb) : "", reign_text(axis, values, reign)));
    return fmt::format("{}{}", fmt::join(parts, ", "),
                       axis == "workers" ? scaling_text(scores, reigns->back().alternative, reports) : "");
  }
  return "";
}

}  // namespace

std::string answer_sentence(const Study& study, const Report& report) {
  if (report.points.empty()) return "";
  if (study.points.size() == 1) return figures_of(report.points.front());
  const Metric& metric = choose_metric(report.points);
  const auto best = std::max_element(report.points.begin(), report.points.end(), [&](const auto& a, const auto& b) {
    return score_of(metric, a) < score_of(metric, b);
  });
  if (score_of(metric, *best) == 0) return "no point fits into the memory of its device";
  const auto best_point = [&]() -> std::string {
    if (best->samples_per_second == 0) return "";
    return fmt::format("{} {}: {}", place_of(best->coordinates), wins(metric), figures_of(*best));
  };
  if (choices_of(study).empty() || study.points.size() > kMostArranged) return best_point();
  const std::vector<const PointReport*> reports = reports_of(study, report);
  const Scores scores(study, reports, metric);
  if (scores.arrangement.alternatives.size() < 2) return best_point();
  if (const auto winner = winner_of_all(scores)) {
    const bool once = scores.winners.size() == 1;
    return fmt::format(
        "{} {}{}", scores.name(*winner), wins(metric),
        once ? fmt::format(": {}", figures_of(*best)) : " everywhere" + scaling_text(scores, *winner, reports));
  }
  const std::string text = by_axis(study, scores, wins(metric), reports);
  return text.empty() ? by_counts(scores, wins(metric)) : text;
}

std::vector<std::string> answer_notes(const Study& study) {
  const std::vector<std::string> choices = choices_of(study);
  if (choices.empty() || study.points.size() > kMostArranged) return {};
  std::vector<std::string> each;
  for (const std::string& axis : study.axes)
    if (std::find(choices.begin(), choices.end(), axis) == choices.end()) each.push_back(axis);
  const std::string note = note_of_trainings(study, each);
  return note.empty() ? std::vector<std::string>{} : std::vector<std::string>{note};
}

}  // namespace stepcast
