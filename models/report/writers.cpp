#include "models/report/writers.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/report/axis_columns.hpp"
#include "models/report/failed_rows.hpp"
#include "models/report/rows.hpp"

namespace stepcast {
namespace {

Json kinds_json(const std::vector<KindReport>& kinds) {
  Json json = Json::array();
  for (const auto& [kind, breakdown] : kinds) {
    Json one{{"first_worker", kind.first},
             {"workers", kind.count},
             {"speed", kind.speed},
             {"bandwidth_B_per_s", kind.link.bandwidth.si()},
             {"latency_s", kind.link.latency.si()}};
    for (const BreakdownPart& part : kBreakdownParts) one[fmt::format("{}_s", part.name)] = (breakdown.*part.time).si();
    json.push_back(std::move(one));
  }
  return json;
}

/// The notes of all points, each text once. Its name is the note's code, with a number behind from the second text on:
/// "gathered-messages", "gathered-messages.2".
class NoteTexts {
 public:
  /// The names of a point's notes.
  Json names_of_all(const Notes& notes) {
    Json names = Json::array();
    for (const Note& note : notes) {
      const auto [place, is_new] = names_.try_emplace(note.text);
      if (is_new) place->second = new_name(std::string(name_of(note.code)), note.text);
      names.push_back(place->second);
    }
    return names;
  }
  /// {name: text}, in the order in which points have them.
  [[nodiscard]] const Json& json() const { return texts_; }

 private:
  std::string new_name(const std::string& code, const std::string& text) {
    const int number = ++of_code_[code];
    std::string name = number == 1 ? code : fmt::format("{}.{}", code, number);
    texts_[name] = text;
    return name;
  }

  std::map<std::string, std::string> names_;
  std::map<std::string, int> of_code_;
  Json texts_ = Json::object();
};

std::vector<Metric> csv_columns(const Report& report, const CsvColumns& which) {
  const auto is_chosen = [&](const Metric& column) {
    return std::any_of(which.chosen.begin(), which.chosen.end(),
                       [&](const Metric* m) { return m->name == column.name; });
  };
  const auto is_empty = [&](const Metric& column) {
    return std::all_of(report.points.begin(), report.points.end(), [&](const PointReport& point) {
      return std::holds_alternative<std::monostate>(column.value(point));
    });
  };
  std::vector<Metric> kept;
  for (const Metric& column : report_columns(report))
    if (is_axis_column(column) || (which.chosen.empty() ? which.with_empty || !is_empty(column) : is_chosen(column)))
      kept.push_back(column);
  return kept;
}

}  // namespace

std::string to_csv(const Report& report, const CsvColumns& which) {
  const auto columns = csv_columns(report, which);
  std::vector<std::string> names;
  names.reserve(columns.size() + 1);
  for (const Metric& column : columns) names.push_back(column.name);
  if (!report.failed.empty()) names.emplace_back("error");
  std::string text = csv_header(names);
  const auto answered = [&](const PointReport& point) {
    Row row;
    for (const Metric& column : columns) row.push_back(column.value(point));
    if (!report.failed.empty()) row.emplace_back();
    text += csv_row(row);
  };
  const auto failed = [&](const FailedPoint& point) {
    Row row = failed_row(columns, point.coordinates);
    row.emplace_back(point.reason);
    text += csv_row(row);
  };
  for_each_point(report, answered, failed);
  return text;
}

Json report_document(const Report& report, const Json& manifest) {
  const auto columns = report_columns(report);
  Json json = Json::object();
  json["schema_version"] = kReportSchemaVersion;
  json["name"] = report.name;
  json["description"] = report.description;
  json["answer"] = report.answer;
  json["answer_notes"] = report.answer_notes;
  json["baseline"] = report.baseline;
  json["baseline_given"] = report.given_baseline;
  json["axes"] = report.axes;
  json["columns"] = Json::object();
  for (const Metric& column : columns) json["columns"][column.name] = column.meaning;
  json["columns"]["worker_kinds"] =
      "if workers differ in speed or link: the kinds of workers, each with its breakdown of a step; otherwise the "
      "breakdown is the mean of all";
  if (!report.failed.empty()) json["columns"]["error"] = "why the point has no answer";
  json["columns"]["notes"] = "facts to know before trusting the number: names in \"notes\", which has each text once";
  json["points"] = Json::array();
  NoteTexts texts;
  const auto answered = [&](const PointReport& point) {
    Json row = Json::object();
    for (const Metric& column : columns) row[column.name] = json_of(column.value(point));
    row["notes"] = texts.names_of_all(point.notes);
    if (!point.kinds.empty()) row["worker_kinds"] = kinds_json(point.kinds);
    if (!report.failed.empty()) row["error"] = nullptr;
    json["points"].push_back(std::move(row));
  };
  const auto failed = [&](const FailedPoint& point) {
    const Row cells = failed_row(columns, point.coordinates);
    Json row = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i].name] = json_of(cells[i]);
    row["error"] = point.reason;
    json["points"].push_back(std::move(row));
  };
  for_each_point(report, answered, failed);
  json["notes"] = texts.json();
  json["manifest"] = manifest;
  return json;
}

}  // namespace stepcast
