#include "sim/program/fit_suite.hpp"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "models/scenario/changed_suite.hpp"
#include "models/scenario/library.hpp"
#include "models/validation/fit.hpp"
#include "models/validation/validation.hpp"
#include "sim/program/refused.hpp"
#include "sim/study/evaluate_study.hpp"

namespace stepcast {
namespace {

/// The suite with each field at a value.
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

}  // namespace

std::vector<Field> fitted_fields(const std::vector<std::string>& fits) {
  std::vector<Field> fields;
  for (const std::string& text : fits) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || !text.starts_with('/'))
      throw refused("--fit", fmt::format("\"{}\" is not /json/pointer=FROM..TO, such as {}", text,
                                         "/strategy/exchange/backward_slowdown=1..2"));
    fields.push_back(read_option(
        "--fit", [&] { return field_at(text.substr(0, equals), std::string_view(text).substr(equals + 1)); }));
  }
  return fields;
}

FittedSuite fit_suite(const Suite& suite, const std::vector<Override>& changes, const std::vector<Field>& fields,
                      int jobs) {
  const auto validation_at = [&](const std::vector<double>& values) {
    const Suite other = at_values(suite, changes, fields, values);
    return validate(other, evaluate_study(other.study, jobs));
  };
  const Suite before = changes.empty() ? suite : changed_suite(suite, changes, default_library());
  for (const MeasuredPoint& m : before.measurements)
    if (before.study.points[m.point].scenario.evaluation.evaluator != Evaluator::equations)
      throw refused("--fit",
                    fmt::format("{}: its measurements are forecast by the replay, and a fit asks the equations "
                                "many times; --set /evaluation/evaluator=equations does so here",
                                suite.name));
  const Validation unfitted = validate(before, evaluate_study(before.study, jobs));
  if (unfitted.summary.predictions == 0)
    throw refused("--fit", fmt::format("{}: all of its rows are fitted already", suite.name));
  std::vector<AxisRange> ranges;
  for (const Field& field : fields) ranges.push_back(field.range);
  Fit fit = fit_least_median(ranges,
                             [&](const std::vector<double>& values) { return sizes_of_errors(validation_at(values)); });
  for (double& value : fit.values) value = std::stod(fmt::format("{:.4g}", value));  // no constant is known better
  const double after = *validation_at(fit.values).summary.median_error;
  Suite best = at_values(suite, changes, fields, fit.values);
  std::string text = fmt::format("\nfitted on {} measurement{} of {}, by the median |error| at {} values tried:\n",
                                 fit.measurements, fit.measurements == 1 ? "" : "s", suite.name, fit.tried);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const double value = fit.values[i];
    text += fmt::format(
        "  {} = {}{}\n", fields[i].pointer, human_value(ranges[i], value),
        value == ranges[i].from || value == ranges[i].to ? ", an end of the range: a wider one may fit better" : "");
  }
  text += fmt::format(
      "median |error| {:.1f} % before, {:.1f} % after, which is no prediction; {:.1f} % of measurements left out one by "
      "one\n",
      100 * *unfitted.summary.median_error, 100 * after, 100 * fit.median_left_out);
  text += "to use it:";
  for (std::size_t i = 0; i < fields.size(); ++i)
    text += fmt::format(" --set {}={}", fields[i].pointer, coordinate_text(ranges[i], fit.values[i]));
  return {std::move(best), text + "\n"};
}

}  // namespace stepcast
