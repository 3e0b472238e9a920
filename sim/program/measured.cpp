#include "sim/program/measured.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/part/strategy.hpp"
#include "models/search/crossover_search.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"
#include "sim/answer/answer_study.hpp"
#include "sim/program/point_progress.hpp"

namespace stepcast {
namespace {

/// A field that may explain a difference, with the range in which it is searched, evenly by factors.
struct Suspect {
  double now, from, to;
  std::string name;  ///< for a range without an explanation
  std::string pointer;
  std::function<void(Scenario&, double)> change;
  std::function<std::string(double)> meaning;
  std::function<std::string(double)> value;  ///< for --set; empty: the field has no pointer
};

/// The exchange of strategies that have one and may overlap it with backward.
Exchange* exchange_of(Strategy& strategy) {
  return std::visit(
      [](auto& one) -> Exchange* {
        if constexpr (requires { one.exchange.overlap; }) return &one.exchange;
        else return nullptr;
      },
      strategy);
}

std::vector<Suspect> suspects_of(const Scenario& scenario) {
  const Link link = scenario.cluster.link;
  std::vector<Suspect> all;
  all.push_back({link.bandwidth.si(), link.bandwidth.si() / 32, link.bandwidth.si() * 8, "links of another bandwidth",
                 "/cluster/link/bandwidth",
                 [](Scenario& s, double value) { s.cluster.link.bandwidth = BytesPerSecond(value); },
                 [link](double value) {
                   return fmt::format("links that reach {}, where the scenario has {}",
                                      human_text(BytesPerSecond(value), 3), human_text(link.bandwidth));
                 },
                 [](double value) { return fmt::format("{:.5g}Gbps", value * 8 / 1e9); }});
  all.push_back({link.latency.si(), 1e-7, 1e-2, "another latency", "/cluster/link/latency",
                 [](Scenario& s, double value) { s.cluster.link.latency = Seconds(value); },
                 [link](double value) {
                   return fmt::format("a latency of {}, where the scenario has {}", human_text(Seconds(value), 3),
                                      human_text(link.latency));
                 },
                 [](double value) { return brief_text(Seconds(value)); }});
  all.push_back({scenario.cluster.stack.host_cost.si(), 1e-12, 1e-8, "hosts that copy", "/stack/host_cost",
                 [](Scenario& s, double value) { s.cluster.stack.host_cost = SecondsPerByte(value); },
                 [](double value) {
                   return fmt::format("hosts that take {} for each byte sent or received",
                                      human_text(SecondsPerByte(value), 3));
                 },
                 [](double value) { return brief_text(SecondsPerByte(value)); }});
  Scenario copy = scenario;
  if (const Exchange* exchange = exchange_of(copy.strategy); exchange && exchange->overlap)
    all.push_back(
        {scenario.cluster.stack.backward_slowdown, 1, 4, "backward slowed by exchanges", "/stack/backward_slowdown",
         [](Scenario& s, double value) { s.cluster.stack.backward_slowdown = value; },
         [](double value) { return fmt::format("backward that takes {:.3g} times as long beside exchanges", value); },
         [](double value) { return fmt::format("{:.4g}", value); }});
  if (scenario.cluster.groups.empty())
    all.push_back(
        {1,
         0.125,
         8,
         "other times of computation",
         "",
         [](Scenario& s, double value) { s.cluster.groups = {{.count = s.cluster.workers, .speed = 1 / value}}; },
         [](double value) {
           return fmt::format("computation that takes {:.3g} times as long: measure one worker alone", value);
         },
         {}});
  return all;
}

/// The search's two alternatives.
constexpr std::size_t kMeasured = 0, kForecast = 1;

/// The scores 1/step that a search along one suspect asks for; 0 where the forecast has no answer.
std::vector<double> scores_at(const StudyPoint& point, const Suspect& suspect, Seconds measured,
                              const std::vector<CrossoverSearch::Request>& requests, int jobs) {
  std::vector<StudyPoint> points;
  for (const auto& [alternative, value] : requests) {
    if (alternative == kMeasured) continue;
    points.push_back({point.coordinates, point.scenario, {}, {}, {}});
    suspect.change(points.back().scenario, value);
  }
  const std::vector<PointAnswer> answers = answer_points(points, jobs, shown_progress());
  std::vector<double> scores;
  scores.reserve(requests.size());
  std::size_t next = 0;
  for (const auto& [alternative, value] : requests) {
    if (alternative == kMeasured) {
      scores.push_back(1 / measured.si());
      continue;
    }
    const PointAnswer& answer = answers[next++];
    scores.push_back(answer.report ? 1 / answer.report->answers.shown().step.si() : 0);
  }
  return scores;
}

/// The value at which the forecast becomes the measured step, the one nearest to the present value. None if the step
/// never does, or jumps over it, as where an algorithm changes.
std::optional<double> value_for(const StudyPoint& point, const Suspect& suspect, Seconds measured, int jobs) {
  constexpr std::size_t kValues = 25;
  constexpr int kMostRounds = 100;  // only a broken search takes more
  constexpr double kNear = 1e-3;
  const AxisRange range{suspect.from, suspect.to, false, nullptr};
  CrossoverSearch search(range, grid_values(range, kValues), 2, kMeasured);
  for (int round = 0; round < kMostRounds; ++round) {
    const auto requests = search.requests();
    if (requests.empty()) break;
    search.answer(requests, scores_at(point, suspect, measured, requests, jobs));
  }
  std::optional<double> best;
  const auto distance = [&](double value) { return std::abs(std::log(value / std::max(suspect.now, suspect.from))); };
  const auto consider = [&](double value, double ratio, double end) {
    if (value == end || ratio > 1 + kNear) return;
    if (!best || distance(value) < distance(*best)) best = value;
  };
  for (const FieldInterval& faster : search.pays(kForecast)) {
    consider(faster.from, faster.at_from, range.from);
    consider(faster.to, faster.at_to, range.to);
  }
  return best;
}

struct Setting {
  std::string meaning, set;
  std::function<void(Exchange&)> change;
};

/// Groupings of gradients that a training script may have, other than the scenario's.
std::vector<Setting> settings_of(const Exchange& now) {
  std::vector<Setting> all;
  const auto add = [&](const std::string& meaning, const std::string& field,
                       const std::function<void(Exchange&)>& change) {
    Exchange changed = now;
    change(changed);
    if (changed != now) all.push_back({meaning, "--set /strategy/exchange/" + field, change});
  };
  add("one message of all gradients", "grouping=whole-model", [](Exchange& x) { x.grouping = Grouping::whole_model; });
  add("a message for each tensor", "grouping=per-tensor", [](Exchange& x) { x.grouping = Grouping::per_tensor; });
  add("no overlap with backward", "overlap=false", [](Exchange& x) { x.overlap = false; });
  if (now.grouping == Grouping::bucketed)
    for (const int size : {1, 5, 50, 100, 200})
      add(fmt::format("buckets of {} MB", size), fmt::format("bucket_cap={}MB", size),
          [size](Exchange& x) { x.bucket_cap = Bytes(size * 1e6); });
  return all;
}

std::vector<NearSetting> near_settings(const StudyPoint& point, Seconds measured, Seconds forecast, int jobs) {
  Scenario scenario = point.scenario;
  const Exchange* exchange = exchange_of(scenario.strategy);
  if (!exchange) return {};
  const std::vector<Setting> settings = settings_of(*exchange);
  std::vector<StudyPoint> points;
  for (const Setting& setting : settings) {
    points.push_back({point.coordinates, point.scenario, {}, {}, {}});
    setting.change(*exchange_of(points.back().scenario.strategy));
  }
  const std::vector<PointAnswer> answers = answer_points(points, jobs, shown_progress());
  const auto distance = [&](Seconds step) { return std::abs(step.si() - measured.si()); };
  std::vector<NearSetting> near;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (!answers[i].report) continue;
    const Seconds step = answers[i].report->answers.shown().step;
    if (distance(step) <= distance(forecast) / 4) near.push_back({settings[i].meaning, settings[i].set, step});
  }
  std::stable_sort(near.begin(), near.end(),
                   [&](const NearSetting& a, const NearSetting& b) { return distance(a.step) < distance(b.step); });
  return near;
}

/// MeasuredStep::assumed.
std::string assumed_by(const Scenario& scenario) {
  if (!scenario.workload) return "";
  const WorkloadTable& table = *scenario.workload;
  std::string text = fmt::format("batch {}", table.batch);
  if (table.accumulation > 1) text += fmt::format(" x {}", table.accumulation);
  if (table.transformer) text += fmt::format(", sequences of {}", table.transformer->sequence);
  return text + fmt::format(", {}{}", name_of(compute_dtype_of(table)), casts(table) ? " by autocast" : "");
}

}  // namespace

MeasuredStep explain_measured(const StudyPoint& point, const PointReport& report, Seconds measured, int jobs) {
  MeasuredStep step{measured, report.answers.shown().step, assumed_by(point.scenario)};
  for (const Suspect& suspect : suspects_of(point.scenario)) {
    const std::optional<double> value = value_for(point, suspect, measured, jobs);
    PossibleCause cause{suspect.name, "", value};
    if (value) cause.meaning = suspect.meaning(*value);
    if (value && suspect.value) cause.set = fmt::format("--set {}={}", suspect.pointer, suspect.value(*value));
    step.causes.push_back(std::move(cause));
  }
  step.near = near_settings(point, measured, step.forecast, jobs);
  return step;
}

std::string to_text(const MeasuredStep& step) {
  const double error = step.error();
  std::string text = fmt::format("measured {}, forecast {}: {}\n", human_text(step.measured), human_text(step.forecast),
                                 std::abs(error) < 5e-4
                                     ? "alike"
                                     : fmt::format("{} too {}", tenths(std::abs(error)), error < 0 ? "fast" : "slow"));
  if (std::abs(error) < 5e-4) return text;
  if (!step.assumed.empty())
    text += fmt::format("the forecast is for {}: is that what was measured? (--batch, --dtype)\n", step.assumed);
  TextTable table(2);
  std::vector<std::string> others;
  for (const PossibleCause& cause : step.causes)
    if (cause.value) table.add({"  " + cause.meaning, cause.set});
    else others.push_back(cause.meaning);
  if (others.size() < step.causes.size()) text += "each of these alone would explain it:\n" + table.text();
  if (!step.near.empty()) {
    TextTable settings(1, 1);
    for (const NearSetting& one : step.near) settings.add({"  " + one.meaning, human_text(one.step), one.set});
    text += "these settings of the exchange come near it:\n" + settings.text();
  }
  if (!others.empty()) text += fmt::format("no value of these explains it: {}\n", fmt::join(others, ", "));
  return text;
}

Json measured_json(const MeasuredStep& step) {
  Json causes = Json::array();
  for (const PossibleCause& cause : step.causes)
    causes.push_back(
        {{"meaning", cause.meaning}, {"set", cause.set}, {"value", cause.value ? Json(*cause.value) : Json()}});
  Json near = Json::array();
  for (const NearSetting& one : step.near)
    near.push_back({{"meaning", one.meaning}, {"set", one.set}, {"step_time_s", one.step.si()}});
  return {{"step_time_s", step.measured.si()}, {"forecast_s", step.forecast.si()},
          {"assumed", step.assumed},           {"error", step.error()},
          {"causes", std::move(causes)},       {"near_settings", std::move(near)}};
}

}  // namespace stepcast
