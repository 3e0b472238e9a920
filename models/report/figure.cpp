#include "models/report/figure.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"
#include "models/report/text_table.hpp"
#include "models/unit/format.hpp"
#include "models/unit/parse.hpp"

namespace stepcast {
namespace {

double read_number(std::string_view text) {
  if (const std::optional<double> value = parse_number(text)) return *value;
  const LeadingNumber number = leading_number(text);
  const bool is_percent = number.error == std::errc{} && number.rest == "%";
  const std::string remedy =
      is_percent ? fmt::format("; write {:.12g}, or for a share of the best --within", number.value / 100) : "";
  throw std::invalid_argument(fmt::format("\"{}\" is not a number{}", text, remedy));
}
template <class Q>
double read_quantity(std::string_view text) {
  return parse_quantity<Q>(text).si();
}
template <class Q>
std::string quantity_text(double si) {
  return human_text(Q(si));
}
std::string long_time_text(double seconds) { return run_text(Seconds(seconds)); }
std::string price_text(double price) { return fmt::format("{:.4g}", price); }
std::string times_text(double value) { return fmt::format("{:.4g}x", value); }

std::optional<double> if_positive(double value) { return value > 0 ? std::optional(value) : std::nullopt; }
template <class Q>
std::optional<double> si(const std::optional<Q>& value) {
  return value ? std::optional(value->si()) : std::nullopt;
}

using P = const PointReport&;
constexpr std::array kFigures = {
    Figure{"throughput", "throughput", "samples/s", "throughput_samples_per_s", "throughput_samples_per_s", true,
           read_number, [](double f) { return fmt::format("{:.4g}/s", f); },
           [](P p) { return if_positive(p.samples_per_second); }},
    Figure{"step", "step time", "step", "step_time_s", "steps_per_s", false, read_quantity<Seconds>,
           quantity_text<Seconds>, [](P p) { return std::optional(p.answers.shown().step.si()); }},
    Figure{"speedup", "speedup", "speedup", "speedup", "", true, read_number, times_text,
           [](P p) { return p.speedup; }},
    Figure{"efficiency", "efficiency", "efficiency", "scaling_efficiency", "", true, read_number, percent,
           [](P p) { return p.scaling_efficiency; }},
    Figure{"mfu", "model FLOPs utilization", "MFU", "mfu", "", true, read_number, percent, [](P p) { return p.mfu; }},
    Figure{"exposed", "exposed communication", "", "exposed_communication_s", "", false, read_quantity<Seconds>,
           quantity_text<Seconds>,
           [](P p) { return std::optional(p.answers.shown().breakdown.exposed_communication.si()); }},
    Figure{"memory", "memory of a worker", "memory", "memory_per_worker_B", "", false, read_quantity<Bytes>,
           quantity_text<Bytes>,
           [](P p) { return p.memory && p.memory->activations ? std::optional(p.memory->total().si()) : std::nullopt; },
           true},
    Figure{"state", "model state of a worker", "", "model_state_per_worker_B", "", false, read_quantity<Bytes>,
           quantity_text<Bytes>, [](P p) { return p.memory ? std::optional(p.memory->model().si()) : std::nullopt; },
           true},
    Figure{"cost", "cost of a million samples", "cost/1M", "cost_per_million_samples", "million_samples_per_cost",
           false, read_number, price_text, [](P p) { return p.cost_per_million; }},
    Figure{"algbw", "algbw", "algbw", "algbw_B_per_s", "", true, read_quantity<BytesPerSecond>,
           quantity_text<BytesPerSecond>, [](P p) { return si(p.algbw); }},
    Figure{"busbw", "busbw", "busbw", "busbw_B_per_s", "", true, read_quantity<BytesPerSecond>,
           quantity_text<BytesPerSecond>, [](P p) { return si(p.busbw); }},
    Figure{"run", "time of the whole run", "run", "run_time_s", "runs_per_s", false, read_quantity<Seconds>,
           long_time_text, [](P p) { return p.run ? std::optional(p.run->time.si()) : std::nullopt; }},
    Figure{"run-cost", "cost of the whole run", "run cost", "run_cost", "runs_per_cost", false, read_number, price_text,
           [](P p) { return p.run ? p.run->cost : std::nullopt; }},
    Figure{"target", "time to the run's target", "to target", "time_to_target_s", "runs_to_target_per_s", false,
           read_quantity<Seconds>, long_time_text, [](P p) { return p.run ? si(p.run->to_target) : std::nullopt; }},
};

}  // namespace

std::span<const Figure> figures() { return kFigures; }

std::string figure_names() {
  std::vector<std::string_view> names;
  for (const Figure& one : figures()) names.push_back(one.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const Figure& find_figure(std::string_view name) {
  const auto found =
      std::find_if(kFigures.begin(), kFigures.end(), [&](const Figure& one) { return one.name == name; });
  if (found != kFigures.end()) return *found;
  std::vector<std::string> names;
  for (const Figure& one : kFigures) names.emplace_back(one.name);
  const std::string near = nearest(std::string(name), names);
  throw std::invalid_argument(fmt::format("\"{}\" is no figure of a point; allowed: {}{}", name, figure_names(),
                                          near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

const Figure& choose_figure(const std::vector<PointReport>& points, const Figure* asked) {
  const auto has = [](const Figure& figure) {
    return [&](const PointReport& point) { return figure.of(point).has_value(); };
  };
  const auto some_have = [&](const Figure& figure) { return std::any_of(points.begin(), points.end(), has(figure)); };
  if (asked) {
    if (some_have(*asked)) return *asked;
    std::vector<std::string_view> known;
    for (const Figure& one : kFigures)
      if (some_have(one)) known.push_back(one.name);
    throw std::invalid_argument(
        fmt::format("{}: no point of the study has it; they have {}", asked->name, fmt::join(known, ", ")));
  }
  for (const char* name : {"target", "run", "throughput"}) {
    const Figure& figure = find_figure(name);
    if (std::all_of(points.begin(), points.end(), has(figure))) return figure;
  }
  return find_figure("step");
}

double worth_of(const Figure& figure, double value) { return figure.more_is_better ? value : 1 / value; }

double worth_of(const Figure& figure, const PointReport& point) {
  if (!point.lacks_memory.empty() && !figure.of_memory) return 0.0;
  const std::optional<double> value = figure.of(point);
  return value ? worth_of(figure, *value) : 0.0;
}

double value_of(const Figure& figure, double worth) { return figure.more_is_better ? worth : 1 / worth; }

Goal parse_goal(std::string_view text) {
  const auto equals = text.find('=');
  const Figure& figure = find_figure(text.substr(0, equals));
  if (equals == std::string_view::npos) return {&figure};
  const std::string_view written = text.substr(equals + 1);
  double value = 0.0;
  try {
    value = figure.read(written);
  } catch (const std::exception& error) {
    throw std::invalid_argument(fmt::format("{}: {}", figure.name, error.what()));
  }
  if (!(value > 0)) throw std::invalid_argument(fmt::format("{}: {} is not above zero", figure.name, written));
  constexpr double kMostShare = 2.0;  // efficiency may be above 1 where workers share what one does alone
  if (figure.text == percent && value > kMostShare)
    throw std::invalid_argument(
        fmt::format("{}: {} is {:.12g} %; did you mean {:.12g}?", figure.name, written, 100 * value, value / 100));
  return {&figure, value};
}

std::string goal_text(const Figure& figure, double value) {
  return fmt::format("{} at {} {}", figure.title, figure.more_is_better ? "least" : "most", figure.text(value));
}

}  // namespace stepcast
