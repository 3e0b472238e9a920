#include "models/validation/validation_writers.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/report/footnotes.hpp"
#include "models/report/rows.hpp"
#include "models/study/alternatives.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

std::string signed_percent(double fraction) {
  const double tenths = std::round(1000 * fraction);  // zero has no sign
  return tenths == 0 ? fmt::format("{:.1f} %", 0.0) : fmt::format("{:+.1f} %", tenths / 10);
}

const MetricUnit& unit_of(const ValidationRow& row) { return *metric_of(row.quantity).unit; }

std::string mark_of(const ValidationRow& row) {
  std::string mark = row.fitted ? "fitted" : "";
  if (row.evidence != Evidence::measured) mark += fmt::format("{}{}", mark.empty() ? "" : ", ", name_of(row.evidence));
  return mark;
}

/// "fitted: TEXT (2 rows)" for each constant that rows were fitted to.
std::string fitted_text(const std::vector<ValidationRow>& rows) {
  std::vector<std::pair<std::string, int>> constants;
  for (const ValidationRow& row : rows) {
    if (!row.fitted) continue;
    const auto known =
        std::find_if(constants.begin(), constants.end(), [&](const auto& one) { return one.first == *row.fitted; });
    if (known == constants.end()) constants.emplace_back(*row.fitted, 1);
    else ++known->second;
  }
  std::string text;
  for (const auto& [constant, count] : constants)
    text += fmt::format("fitted to {} row{}: {}\n", count, count == 1 ? "" : "s", constant);
  return text;
}

/// Breaks the text into lines of at most 120 characters, if its words allow it.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 120;
  std::string lines, word;
  std::size_t used = 0;
  for (std::istringstream words(text); words >> word; used += word.size()) {
    if (used > 0 && used + 1 + word.size() > kWidth) used = 0;
    if (!lines.empty()) lines += used == 0 ? '\n' : ' ';
    if (used > 0) ++used;
    lines += word;
  }
  return lines + "\n";
}

/// A column of CSV and JSON.
struct RowColumn {
  const char* name;
  const char* meaning;
  Cell (*cell)(const ValidationRow&);
};

Cell text_or_none(const std::optional<std::string>& text) { return text ? Cell(*text) : Cell(); }

constexpr RowColumn kColumns[] = {
    {"point", "coordinates of the study's point",
     [](const ValidationRow& r) { return Cell(describe_point(r.coordinates)); }},
    {"quantity", "the measured values", [](const ValidationRow& r) { return Cell(std::string(name_of(r.quantity))); }},
    {"unit", "of the measured and predicted values",
     [](const ValidationRow& r) { return Cell(std::string(unit_of(r).symbol)); }},
    {"measured", "the published value", [](const ValidationRow& r) { return Cell(r.measured); }},
    {"spread", "standard deviation of repeated measurements over their mean",
     [](const ValidationRow& r) { return r.spread ? Cell(*r.spread) : Cell(); }},
    {"predicted", "the forecast", [](const ValidationRow& r) { return Cell(r.predicted); }},
    {"error", "forecast over measured time, minus 1; a rate counts as the time that it is inverse to",
     [](const ValidationRow& r) { return Cell(r.error()); }},
    {"inside", "whether the measurement is within the forecast's error band",
     [](const ValidationRow& r) { return r.is_inside() ? Cell(std::string(*r.is_inside() ? "yes" : "no")) : Cell(); }},
    {"workers", "of the point's cluster", [](const ValidationRow& r) { return Cell(std::int64_t{r.workers}); }},
    {"evidence", "kind of source of the measured value",
     [](const ValidationRow& r) { return Cell(std::string(name_of(r.evidence))); }},
    {"fitted", "the constant of the study that was set from this row, which therefore tests nothing",
     [](const ValidationRow& r) { return text_or_none(r.fitted); }},
};

Json optional_json(const auto& value) { return value ? Json(*value) : Json(); }

Json errors_json(const ErrorSummary& errors) {
  return {{"predictions", errors.count},
          {"median_absolute_error", optional_json(errors.median)},
          {"p90_absolute_error", optional_json(errors.p90)},
          {"bias", optional_json(errors.bias)}};
}

Json summary_json(const ValidationSummary& s) {
  Json json = errors_json(s.errors);
  json["largest_error"] = optional_json(s.largest_error);
  json["pairs"] = s.pairs;
  json["ordered_pairs"] = s.ordered;
  json["tau"] = optional_json(s.tau());
  json["with_band"] = s.banded;
  json["inside_band"] = s.inside;
  return json;
}

Json by_workers_json(const std::vector<Validation>& validations) {
  Json list = Json::array();
  for (const auto& [workers, errors] : errors_by_workers(validations)) {
    list.push_back({{"workers", workers}});
    list.back().update(errors_json(errors));
  }
  return list;
}

/// Count, median, p90 and bias.
std::vector<std::string> error_cells(const ErrorSummary& errors) {
  const auto cell = [](const std::optional<double>& value, std::string (*text)(double)) {
    return value ? text(*value) : "-";
  };
  return {fmt::format("{}", errors.count), cell(errors.median, tenths), cell(errors.p90, tenths),
          cell(errors.bias, signed_percent)};
}

}  // namespace

std::string to_table(const Validation& validation) {
  TextTable table(validation.axes.size() + 1);
  std::vector<std::string> head(validation.axes);
  head.insert(head.end(), {"quantity", "measured", "predicted", "error", ""});
  table.add(head);
  for (const ValidationRow& row : validation.rows) {
    std::vector<std::string> cells;
    for (const std::string& axis : validation.axes) cells.push_back(value_on(row.coordinates, axis));
    cells.insert(cells.end(), {std::string(name_of(row.quantity)), unit_of(row).measured(row.measured),
                               unit_of(row).measured(row.predicted), signed_percent(row.error()), mark_of(row)});
    table.add(cells);
  }
  std::string title = title_of(validation);
  if (!validation.sets.empty())
    title += fmt::format(" (so not the suite's own errors: the scenarios of {} of {} measurements are changed)",
                         validation.changed, validation.rows.size());
  std::string text =
      wrapped(validation.description.empty() ? title : fmt::format("{}: {}", title, validation.description)) +
      wrapped("source: " + validation.source);
  if (!validation.assumes.empty()) text += wrapped("assumes: " + validation.assumes);
  text += fmt::format("\n{}{}", table.text(), fitted_text(validation.rows));
  text += note_lines(validation.notes);
  if (validation.unmeasured > 0)
    text += fmt::format("{} of the study's points {} not measured\n", validation.unmeasured,
                        validation.unmeasured == 1 ? "was" : "were");
  return text;
}

std::string summaries_text(const std::vector<NamedSummary>& summaries) {
  TextTable table(1, 7);
  table.add({"errors of time", "rows", "median", "p90", "bias", "tau", "in band", "largest", "of the row"});
  for (const auto& [name, s, worst] : summaries) {
    std::vector<std::string> cells{name};
    for (std::string& cell : error_cells(s.errors)) cells.push_back(std::move(cell));
    cells.push_back(s.tau() ? fmt::format("{:.2f}", *s.tau()) : "-");
    cells.push_back(s.banded > 0 ? fmt::format("{} of {}", s.inside, s.banded) : "-");
    cells.push_back(s.largest_error ? signed_percent(*s.largest_error) : "-");
    cells.push_back(worst);
    table.add(std::move(cells));
  }
  return table.text();
}

Json to_json(const NamedSummary& summary) {
  Json json{{"name", summary.name}};
  json.update(summary_json(summary.summary));
  return json;
}

std::string summary_table(const std::vector<Validation>& validations) {
  std::vector<NamedSummary> all;
  for (const Validation& v : validations)
    all.push_back(
        {title_of(v), v.summary, v.summary.largest_error ? describe_point(v.rows[v.summary.worst].coordinates) : ""});
  if (validations.size() > 1)
    all.push_back({fmt::format("all {} suites", validations.size()), summary_of_all(validations), ""});
  return summaries_text(all);
}

std::string workers_table(const std::vector<Validation>& validations) {
  TextTable table(0);
  table.add({"workers", "rows", "median", "p90", "bias"});
  for (const auto& [workers, errors] : errors_by_workers(validations)) {
    std::vector<std::string> cells{fmt::format("{}", workers)};
    for (std::string& cell : error_cells(errors)) cells.push_back(std::move(cell));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string to_csv(const std::vector<Validation>& validations) {
  std::vector<std::string> names{"suite"};
  for (const RowColumn& column : kColumns) names.emplace_back(column.name);
  std::string text = csv_header(names);
  for (const Validation& validation : validations)
    for (const ValidationRow& row : validation.rows) {
      Row cells{title_of(validation)};
      for (const RowColumn& column : kColumns) cells.push_back(column.cell(row));
      text += csv_row(cells);
    }
  return text;
}

Json validation_document(const std::vector<Validation>& validations, const std::vector<Json>& manifests) {
  Json json = Json::object();
  json["schema_version"] = kValidationSchemaVersion;
  json["columns"] = Json::object();
  for (const RowColumn& column : kColumns) json["columns"][column.name] = column.meaning;
  json["suites"] = Json::array();
  for (std::size_t i = 0; i < validations.size(); ++i) {
    const Validation& v = validations[i];
    Json suite{{"name", v.name},     {"description", v.description},
               {"source", v.source}, {"assumes", v.assumes},
               {"axes", v.axes},     {"alternatives", optional_json(v.alternatives)},
               {"set", v.sets},      {"changed_rows", v.changed}};
    suite["tolerance"] =
        Json{{"median", optional_json(v.tolerance.median)}, {"largest", optional_json(v.tolerance.largest)}};
    suite["rows"] = Json::array();
    for (const ValidationRow& row : v.rows) {
      Json cells = Json::object();
      for (const RowColumn& column : kColumns) cells[column.name] = json_of(column.cell(row));
      cells["coordinates"] = coordinates_json(row.coordinates);
      suite["rows"].push_back(std::move(cells));
    }
    suite["summary"] = summary_json(v.summary);
    suite["summary"]["tolerance_missed"] = missed_limits(v);
    suite["by_workers"] = by_workers_json({v});
    suite["unmeasured_points"] = v.unmeasured;
    suite["notes"] = coded(v.notes);
    suite["manifest"] = manifests.at(i);
    json["suites"].push_back(std::move(suite));
  }
  json["summary"] = summary_json(summary_of_all(validations));
  json["by_workers"] = by_workers_json(validations);
  return json;
}

}  // namespace stepcast
