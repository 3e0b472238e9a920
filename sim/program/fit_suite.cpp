#include "sim/program/fit_suite.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/validation/changed_suite.hpp"
#include "models/validation/fit.hpp"
#include "models/validation/validation.hpp"
#include "program/options.hpp"
#include "sim/answer/answer_study.hpp"
#include "sim/answer/asked.hpp"

namespace stepcast {
namespace {

/// The suite with each field at its value.
Suite at_values(const Suite& suite, std::vector<Override> changes, const std::vector<Field>& fields,
                const std::vector<double>& values) {
  for (std::size_t i = 0; i < fields.size(); ++i)
    changes.push_back({fields[i].pointer, field_value(fields[i].range, values[i]), "--fit", fields[i].pointer});
  return changed_suite(suite, changes, default_library());
}

std::vector<double> sizes_of_errors(const Validation& validation) {
  std::vector<double> sizes;
  for (const ValidationRow& row : validation.rows)
    if (!row.fitted) sizes.push_back(std::abs(row.error()));
  return sizes;
}

/// Returns "/stack/host_cost=1ns/B" for each field.
std::vector<std::string> settings(const std::vector<Field>& fields, const std::vector<double>& values) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < fields.size(); ++i)
    all.push_back(fmt::format("{}={}", fields[i].pointer, coordinate_text(fields[i].range, values[i])));
  return all;
}

/// The faults of tried values, with these values.
ScenarioError tried(const ScenarioError& error, const std::vector<Field>& fields, const std::vector<double>& values) {
  std::vector<Fault> faults = error.faults();
  for (Fault& fault : faults)
    fault.found +=
        fmt::format(" (tried first, and no value tried is possible: {})", fmt::join(settings(fields, values), ", "));
  return ScenarioError(std::move(faults));
}

/// Refuses a suite that the equations do not forecast.
void require_equations(const Suite& suite) {
  AskedEvaluators asked;
  for (const MeasuredPoint& m : suite.measurements)
    if (asked.of(suite.study.points[m.point].scenario).evaluators.replay)
      throw UsageError("--fit",
                       fmt::format("{}: its measurements are forecast by the replay, and a fit asks the equations "
                                   "many times; --set /evaluation/evaluator=equations does so here",
                                   suite.name));
}

/// The findings as text and as JSON.
/// @param at_end  fields whose value is an end of their range
FittedSuite told(const Suite& suite, const std::vector<Field>& fields, const std::vector<AxisRange>& ranges,
                 const Fit& fit, const std::vector<bool>& at_end, double earlier, double after) {
  std::string text = fmt::format("\nfitted on {} measurement{} of {}, by the median |error| at {} values tried{}:\n",
                                 fit.measurements, fit.measurements == 1 ? "" : "s", suite.name, fit.tried,
                                 fit.impossible > 0 ? fmt::format(", {} of them impossible", fit.impossible) : "");
  Json values = Json::array();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const char* remark = "";
    if (!fit.matters[i]) remark = ", which makes no difference: the median is the same at all values tried";
    else if (at_end[i]) remark = ", an end of the range: a wider one may fit better";
    text += fmt::format("  {} = {}{}\n", fields[i].pointer, human_value(ranges[i], fit.values[i]), remark);
    values.push_back(Json{{"pointer", fields[i].pointer},
                          {"from", field_value(ranges[i], ranges[i].from)},
                          {"to", field_value(ranges[i], ranges[i].to)},
                          {"value", field_value(ranges[i], fit.values[i])},
                          {"makes_a_difference", bool(fit.matters[i])}});
  }
  text += fmt::format(
      "median |error| {:.1f} % before, {:.1f} % after, which is no prediction; {:.1f} % of measurements left out one by "
      "one\n",
      100 * earlier, 100 * after, 100 * fit.median_left_out);
  const bool better = after < earlier;
  if (better) {
    text += fmt::format("to use it: --set {}\n", fmt::join(settings(fields, fit.values), " --set "));
  } else if (std::find(fit.matters.begin(), fit.matters.end(), true) != fit.matters.end() || after > earlier) {
    text += "no value tried is better than the unchanged suite, which is shown\n";
  }
  Json found{{"fields", std::move(values)},
             {"measurements", fit.measurements},
             {"values_tried", fit.tried},
             {"values_impossible", fit.impossible},
             {"median_absolute_error_before", earlier},
             {"median_absolute_error_after", after},
             {"median_absolute_error_left_out", fit.median_left_out},
             {"used", better}};
  return {{}, std::move(text), std::move(found)};
}

}  // namespace

std::vector<Field> fitted_fields(const std::vector<std::string>& fits) {
  std::vector<Field> fields;
  for (const std::string& text : fits) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || !text.starts_with('/'))
      throw UsageError("--fit", fmt::format("\"{}\" is not /json/pointer=FROM..TO, such as {}", text,
                                            "/stack/backward_slowdown=1..2"));
    const std::string pointer = text.substr(0, equals);
    if (std::any_of(fields.begin(), fields.end(), [&](const Field& other) { return other.pointer == pointer; }))
      throw UsageError("--fit", fmt::format("{} twice; give each field one range", pointer));
    fields.push_back(
        read_option("--fit", [&] { return field_at(pointer, std::string_view(text).substr(equals + 1)); }));
  }
  return fields;
}

FittedSuite fit_suite(const Suite& suite, const std::vector<Override>& changes, const std::vector<Field>& fields,
                      int jobs) {
  const auto validation_at = [&](const std::vector<double>& values) {
    const Suite other = at_values(suite, changes, fields, values);
    return validate(other, answer_whole_study(other.study, jobs));
  };
  const Suite before = changes.empty() ? suite : changed_suite(suite, changes, default_library());
  require_equations(before);
  const Validation unfitted = validate(before, answer_whole_study(before.study, jobs));
  if (unfitted.summary.errors.count == 0)
    throw UsageError("--fit", fmt::format("{}: all of its rows are fitted already", suite.name));
  std::vector<AxisRange> ranges;
  for (const Field& field : fields) ranges.push_back(field.range);
  std::optional<ScenarioError> first_fault;
  const auto errors_at = [&](const std::vector<double>& values) -> std::vector<double> {
    try {
      return sizes_of_errors(validation_at(values));
    } catch (const ScenarioError& error) {
      if (!first_fault) first_fault = tried(error, fields, values);
      return {};
    }
  };
  Fit fit = fit_least_median(ranges, errors_at);
  if (fit.measurements == 0) throw ScenarioError(*first_fault);
  std::vector<double> shorter;
  std::vector<bool> at_end;  // as they were before rounding
  for (std::size_t i = 0; i < fields.size(); ++i) {
    shorter.push_back(rounded(ranges[i], fit.values[i]));
    at_end.push_back(fit.matters[i] && (fit.values[i] == ranges[i].from || fit.values[i] == ranges[i].to));
  }
  if (!errors_at(shorter).empty()) fit.values = shorter;
  const double earlier = *unfitted.summary.errors.median, after = *validation_at(fit.values).summary.errors.median;

  FittedSuite all = told(suite, fields, ranges, fit, at_end, earlier, after);
  all.suite = after < earlier ? at_values(suite, changes, fields, fit.values) : before;
  return all;
}

}  // namespace stepcast
