#include "sim/program/training.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/scenario/library.hpp"
#include "models/validation/changed_suite.hpp"
#include "program/options.hpp"
#include "sim/answer/answer_study.hpp"
#include "sim/answer/asked.hpp"
#include "sim/replay/simulator.hpp"

namespace stepcast {
namespace {

/// Refuses constants that the rows cannot tell: more than rows, or without effect on them.
void require_determined(const Fit& fit, const std::vector<Field>& fields, double published) {
  if (fit.rows < fields.size())
    throw UsageError(
        fmt::format("{} constants from {} trained row{}: there are infinitely many answers; train more "
                    "rows, or fit fewer constants",
                    fields.size(), fit.rows, fit.rows == 1 ? "" : "s"));
  const double spread = published > 0 ? published : fit.spread;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (const double moves = fit.constants[i].moves; moves == 0 || moves < spread)
      throw UsageError(fmt::format(
          "{}: between the ends of its range the trained rows move by {:.2g} %, less than their spread of {:.2g} %{}; "
          "they do not determine it, so leave it out",
          fields[i].pointer, 100 * moves, 100 * spread, published > 0 ? "" : " about the fit"));
}

}  // namespace

std::vector<Suite> Training::suites_at(const std::vector<double>& values) const {
  std::vector<Override> all = changes_;
  for (std::size_t i = 0; i < values.size(); ++i)
    all.push_back({fields_[i].pointer, field_value(fields_[i].range, values[i]), "--constant", fields_[i].pointer});
  std::vector<Suite> changed;
  for (const Suite& suite : suites_)
    changed.push_back(all.empty() ? suite : changed_suite(suite, all, default_library(), inspect_platform));
  return changed;
}

std::vector<Validation> Training::at(const std::vector<double>& values) const {
  std::vector<Validation> validations;
  for (const Suite& suite : suites_at(values))
    validations.push_back(validate(suite, answer_whole_study(suite.study, jobs_)));
  return validations;
}

bool Training::is_trained(const Validation& validation, const ValidationRow& row) const {
  return !row.fitted && is_selected(conditions_, validation.name, row);
}

std::vector<std::string> Training::values_on(const std::string& axis,
                                             const std::vector<Validation>& validations) const {
  std::vector<std::string> values;
  for (const Validation& validation : validations)
    for (const ValidationRow& row : validation.rows) {
      const std::string value = axis_value(axis, validation.name, row);
      if (is_trained(validation, row) && std::find(values.begin(), values.end(), value) == values.end())
        values.push_back(value);
    }
  if (values.size() < 2)
    throw UsageError("--leave-out", fmt::format("the trained rows have {} on the axis \"{}\": nothing is left to "
                                                "train without it",
                                                values.empty() ? "no value" : "one value", axis));
  return values;
}

std::vector<double> Training::residuals(const std::vector<Validation>& validations) const {
  std::vector<double> all;
  for (const Validation& validation : validations)
    for (const ValidationRow& row : validation.rows)
      if (is_trained(validation, row)) all.push_back(std::log1p(row.error()));
  return all;
}

double Training::published_spread(const std::vector<Validation>& validations) const {
  double sum = 0;
  int rows = 0;
  for (const Validation& validation : validations)
    for (const ValidationRow& row : validation.rows)
      if (is_trained(validation, row) && row.spread) {
        sum += *row.spread * *row.spread;
        ++rows;
      }
  return rows == 0 ? 0 : std::sqrt(sum / rows);
}

std::vector<Validation> Training::part(const std::vector<Validation>& validations, bool trained) const {
  std::vector<Validation> some;
  for (Validation one : validations) {
    std::erase_if(one.rows, [&](const ValidationRow& row) { return row.fitted || is_trained(one, row) != trained; });
    if (one.rows.empty()) continue;
    one.summary = summary_of(one.rows, one.alternatives);
    some.push_back(std::move(one));
  }
  return some;
}

void require_equations(const std::vector<Suite>& suites) {
  AskedEvaluators asked;
  for (const Suite& suite : suites)
    for (const MeasuredPoint& m : suite.measurements)
      if (asked.of(suite.study.points[m.point].scenario).evaluators.replay)
        throw UsageError(
            fmt::format("{}: its measurements are forecast by the replay, and a fit asks the equations "
                        "many times; --set /evaluation/evaluator=equations does so here",
                        suite.name));
}

Fitted fitted(const Training& training, const std::vector<Validation>& before) {
  std::vector<AxisRange> ranges;
  for (const Field& field : training.fields()) ranges.push_back(field.range);
  std::optional<ScenarioError> first_fault;
  auto fit = fit_least_squares(ranges, [&](const std::vector<double>& values) -> std::vector<double> {
    try {
      return training.residuals(training.at(values));
    } catch (const ScenarioError& error) {
      if (!first_fault) first_fault = error;
      return {};
    }
  });
  if (!fit) throw ScenarioError(*first_fault);
  require_determined(*fit, training.fields(), training.published_spread(before));
  Fitted found{std::move(*fit), {}};
  for (const FittedConstant& one : found.fit.constants) found.values.push_back(one.value);
  return found;
}

}  // namespace stepcast
