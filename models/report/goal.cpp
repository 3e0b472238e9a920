#include "models/report/goal.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"

namespace stepcast {
namespace {

/// The names of the goals that pass the test.
template <class Test>
std::vector<std::string> names_where(Test&& test) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics())
    if (!metric.compared.goal.empty() && test(metric)) names.emplace_back(metric.compared.goal);
  return names;
}

std::vector<std::string> all_names() {
  return names_where([](const Metric&) { return true; });
}

}  // namespace

std::string goal_names() { return fmt::format("{}", fmt::join(all_names(), ", ")); }

const Metric& find_metric(std::string_view goal) {
  for (const Metric& metric : metrics())
    if (!goal.empty() && metric.compared.goal == goal) return metric;
  const std::string near = nearest(std::string(goal), all_names());
  throw std::invalid_argument(fmt::format("\"{}\" is no metric of a point; allowed: {}{}", goal, goal_names(),
                                          near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

const Metric& choose_metric(const std::vector<PointReport>& points, const Metric* asked) {
  const auto has = [](const Metric& metric) {
    return [&](const PointReport& point) { return number_of(metric, point).has_value(); };
  };
  const auto some_have = [&](const Metric& metric) { return std::any_of(points.begin(), points.end(), has(metric)); };
  if (asked) {
    if (some_have(*asked)) return *asked;
    throw std::invalid_argument(fmt::format("{}: no point of the study has it; they have {}", asked->compared.goal,
                                            fmt::join(names_where(some_have), ", ")));
  }
  for (const char* goal : {"target", "run", "throughput"}) {
    const Metric& metric = find_metric(goal);
    if (std::all_of(points.begin(), points.end(), has(metric))) return metric;
  }
  return find_metric("step");
}

double score_of(const Metric& metric, double value) {
  return metric.compared.better == Better::more ? value : 1 / value;
}

double score_of(const Metric& metric, const PointReport& point) {
  if (!point.lacks_memory.empty() && !metric.compared.may_lack_memory) return 0.0;
  const std::optional<double> value = number_of(metric, point);
  return value ? score_of(metric, *value) : 0.0;
}

double value_of(const Metric& metric, double score) { return score_of(metric, score); }

Goal parse_goal(std::string_view text) {
  const auto equals = text.find('=');
  const Metric& metric = find_metric(text.substr(0, equals));
  if (equals == std::string_view::npos) return {&metric};
  const std::string_view written = text.substr(equals + 1);
  double value = 0.0;
  try {
    value = metric.unit->read(written);
  } catch (const std::exception& error) {
    throw std::invalid_argument(fmt::format("{}: {}", metric.compared.goal, error.what()));
  }
  if (!(value > 0)) throw std::invalid_argument(fmt::format("{}: {} is not above zero", metric.compared.goal, written));
  constexpr double kMostShare = 2.0;  // efficiency may be above 1 if workers share work that one does alone
  if (metric.unit->is_share && value > kMostShare)
    throw std::invalid_argument(fmt::format("{}: {} is {:.12g} %; did you mean {:.12g}?", metric.compared.goal, written,
                                            100 * value, value / 100));
  return {&metric, value};
}

std::string goal_text(const Metric& metric, double value) {
  return fmt::format("{} at {} {}", metric.compared.title, metric.compared.better == Better::more ? "least" : "most",
                     metric.unit->text(value));
}

}  // namespace stepcast
