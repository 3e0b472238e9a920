#include "models/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/describe/fault.hpp"

namespace stepcast {
namespace {

/// The common ground of rows to choose among: the quantity, and the coordinates on the other axes.
std::string situation_of(const ValidationRow& row, const std::string& axis) {
  std::string text(name_of(row.quantity));
  for (const Coordinate& c : without_axis(row.coordinates, axis)) text += fmt::format("\n{}\n{}", c.axis, c.value);
  return text;
}

bool is_told_apart(const ValidationRow& a, const ValidationRow& b) {
  return std::abs(a.measured - b.measured) > a.spread.value_or(0) * a.measured + b.spread.value_or(0) * b.measured;
}

std::vector<double> scored_errors(const std::vector<ValidationRow>& rows) {
  std::vector<double> errors;
  for (const ValidationRow& row : rows)
    if (!row.fitted) errors.push_back(row.error());
  return errors;
}

}  // namespace

double ValidationRow::error() const {
  const bool is_time = quantity == MeasuredQuantity::step_time || quantity == MeasuredQuantity::forward ||
                       quantity == MeasuredQuantity::backward;
  return (is_time ? predicted / measured : measured / predicted) - 1;
}

const Metric& metric_of(MeasuredQuantity quantity) {
  for (const Metric& metric : metrics())
    if (metric.measured == name_of(quantity)) return metric;
  throw std::logic_error("a quantity that no metric is");
}

std::optional<bool> ValidationRow::is_inside() const {
  if (!band) return {};
  const Seconds measured_time(1 / (1 + error()));  // for a forecast of 1 s
  return band->low <= measured_time && measured_time <= band->high;
}

ValidationSummary summary_of(const std::vector<ValidationRow>& rows, const std::optional<std::string>& alternatives) {
  ValidationSummary summary;
  std::map<std::string, std::vector<std::pair<std::size_t, std::string>>> situations;  // rows with their alternative
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].fitted) continue;
    const double error = rows[i].error();
    if (!summary.largest_error || std::abs(error) > std::abs(*summary.largest_error)) {
      summary.largest_error = error;
      summary.worst = i;
    }
    if (!alternatives) continue;
    const std::string own = value_on(rows[i].coordinates, *alternatives);
    auto& others = situations[situation_of(rows[i], *alternatives)];
    for (const auto& [j, other] : others) {
      if (other == own || !is_told_apart(rows[i], rows[j])) continue;
      ++summary.pairs;
      if ((rows[i].measured - rows[j].measured) * (rows[i].predicted - rows[j].predicted) > 0) ++summary.ordered;
    }
    others.emplace_back(i, own);
  }
  for (const ValidationRow& row : rows)
    if (const auto inside = row.is_inside(); inside && !row.fitted) {
      ++summary.banded;
      summary.inside += *inside;
    }
  summary.errors = summary_of(scored_errors(rows));
  return summary;
}

ValidationSummary summary_of_all(const std::vector<Validation>& validations) {
  ValidationSummary all;
  std::vector<double> errors;
  for (const Validation& v : validations) {
    for (const double error : scored_errors(v.rows)) errors.push_back(error);
    all.pairs += v.summary.pairs;
    all.ordered += v.summary.ordered;
    all.banded += v.summary.banded;
    all.inside += v.summary.inside;
    const auto& largest = v.summary.largest_error;
    if (largest && (!all.largest_error || std::abs(*largest) > std::abs(*all.largest_error)))
      all.largest_error = largest;
  }
  all.errors = summary_of(std::move(errors));
  return all;
}

std::map<int, ErrorSummary> errors_by_workers(const std::vector<Validation>& validations) {
  std::map<int, std::vector<double>> errors;
  for (const Validation& v : validations)
    for (const ValidationRow& row : v.rows)
      if (!row.fitted) errors[row.workers].push_back(row.error());
  std::map<int, ErrorSummary> all;
  for (auto& [workers, some] : errors) all.emplace(workers, summary_of(std::move(some)));
  return all;
}

Validation validate(const Suite& suite, const Report& report) {
  Validation validation;
  validation.name = suite.name;
  validation.description = suite.description;
  validation.source = suite.source;
  validation.assumes = suite.assumes;
  validation.axes = report.axes;
  validation.alternatives = suite.alternatives;
  validation.tolerance = suite.tolerance;
  validation.sets = suite.sets;
  validation.changed = suite.changed;
  std::set<std::size_t> measured;
  std::set<std::string> noted;
  for (const MeasuredPoint& m : suite.measurements) {
    const PointReport& point = report.points.at(m.point);
    const auto value = number_of(metric_of(m.quantity), point);
    if (!value)
      throw ModelError(fmt::format("{}: the forecast of {} has no {}", suite.name, describe_point(point.coordinates),
                                   name_of(m.quantity)));
    validation.rows.push_back(
        {point.coordinates, m.quantity, m.value, m.spread, *value, m.evidence, m.fitted, point.workers});
    // Ratios of two forecasts have no band: what moves one moves the other.
    const bool is_ratio = m.quantity == MeasuredQuantity::speedup || m.quantity == MeasuredQuantity::scaling_efficiency;
    if (const Seconds step = point.answers.shown().step; point.band && !is_ratio)
      validation.rows.back().band = Band{Seconds(point.band->low / step), Seconds(point.band->high / step)};
    if (!measured.insert(m.point).second) continue;
    for (const Note& note : point.notes)
      if (noted.insert(note.text).second) validation.notes.push_back(note);
  }
  validation.unmeasured = report.points.size() - measured.size();
  validation.summary = summary_of(validation.rows, suite.alternatives);
  return validation;
}

std::string title_of(const Validation& validation) {
  std::string title = validation.name;
  for (const std::string& set : validation.sets)
    title += fmt::format("{} --set {}", title == validation.name ? " with" : "", set);
  return title;
}

std::vector<std::string> missed_limits(const Validation& validation) {
  const ValidationSummary& s = validation.summary;
  std::vector<std::string> missed;
  const auto check = [&](const char* what, std::optional<double> error, std::optional<double> limit) {
    if (error && limit && !(std::abs(*error) <= *limit))
      missed.push_back(fmt::format("{}: the {} |error| is {:.3g} %, more than the {:.3g} % that the suite states",
                                   title_of(validation), what, 100 * std::abs(*error), 100 * *limit));
  };
  if (s.errors.count == 0 && (validation.tolerance.median || validation.tolerance.largest))
    missed.push_back(
        fmt::format("{}: all rows are fitted, so nothing is left to hold against the tolerance that the suite states",
                    title_of(validation)));
  check("median", s.errors.median, validation.tolerance.median);
  check("largest", s.largest_error, validation.tolerance.largest);
  return missed;
}

std::string describe_point(const std::vector<Coordinate>& coordinates) {
  std::string text;
  for (const Coordinate& c : coordinates) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", c.axis, c.value);
  return text.empty() ? "the study's one point" : text;
}

}  // namespace stepcast
