#include "models/search/solutions.hpp"

#include <fmt/format.h>

#include "models/describe/json.hpp"
#include "models/report/footnotes.hpp"
#include "models/report/rows.hpp"
#include "models/search/interval_text.hpp"
#include "models/study/alternatives.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

std::string near_title(const Solutions& s) { return fmt::format("within {}", percent(s.near)); }

std::string headline(const Solutions& s) {
  std::string text = fmt::format("{}: {} by the {}, along {} {}\n", s.name, s.metric->compared.title,
                                 s.replayed ? "replay" : "equations", s.axis, range_text(s.range));
  if (s.goal) text += fmt::format("reached: {}\n", goal_text(*s.metric, *s.goal));
  text += fmt::format("best: the {} {}, at the first value that has it; {}: values that are that near\n",
                      s.metric->compared.better == Better::more ? "largest" : "smallest", s.metric->compared.title,
                      near_title(s));
  if (!s.range.is_discrete())
    text += fmt::format("the best is closed in on to {:g} of the value, among the values looked at\n", kPeakWidth);
  return text + search_text(s.range, s.grid);
}

}  // namespace

std::string to_text(const Solutions& s) {
  TextTable table(s.axes.size() + (s.goal ? 1 : 0), 1);
  std::vector<std::string> head(s.axes);
  if (s.goal) head.emplace_back("reached");
  head.insert(head.end(), {"best", "", near_title(s)});
  table.add(head);
  for (const PointSolution& point : s.points) {
    std::vector<std::string> row;
    for (const std::string& axis : s.axes) row.push_back(value_on(point.coordinates, axis));
    if (s.goal) row.push_back(intervals_text(s.range, point.search.reached(), "never"));
    const GoalSearch::Best best = point.search.best();
    if (best.score == 0) row.insert(row.end(), {"impossible", "", "-"});  // it fits its device nowhere
    else
      row.insert(row.end(),
                 {s.metric->unit->text(value_of(*s.metric, best.score)), "at " + human_value(s.range, best.value),
                  intervals_text(s.range, point.search.near_best(), "-")});
    table.add(row);
  }
  std::string text = headline(s) + "\n" + table.text();
  text += note_lines(s.notes);
  return text;
}

std::string to_csv(const Solutions& s) {
  std::vector<std::string> names(s.axes);
  const std::string unit(s.range.unit ? s.range.unit->suffix : ""), column(s.metric->name);
  names.insert(names.end(),
               {"holds", s.axis + "_from" + unit, s.axis + "_to" + unit, column + "_at_from", column + "_at_to"});
  std::string text = csv_header(names);
  for (const PointSolution& point : s.points) {
    const auto add = [&](const char* what, const FieldInterval& one) {
      Row row;
      for (const std::string& axis : s.axes) row.emplace_back(value_on(point.coordinates, axis));
      for (Cell cell : {Cell(std::string(what)), value_cell(s.range, one.from), value_cell(s.range, one.to),
                        Cell(value_of(*s.metric, one.at_from)), Cell(value_of(*s.metric, one.at_to))})
        row.push_back(std::move(cell));
      text += csv_row(row);
    };
    for (const FieldInterval& one : point.search.reached()) add("reached", one);
    const GoalSearch::Best best = point.search.best();
    if (best.score > 0) add("best", {best.value, best.value, best.score, best.score});
    for (const FieldInterval& one : point.search.near_best()) add("near_best", one);
  }
  return text;
}

Json solutions_document(const Solutions& s, const Json& manifest) {
  const auto value = [&](double score) { return value_of(*s.metric, score); };
  const auto intervals = [&](const std::vector<FieldInterval>& all) {
    Json json = Json::array();
    for (const FieldInterval& one : all)
      json.push_back({{"from", value_json(s.range, one.from)},
                      {"to", value_json(s.range, one.to)},
                      {"figure_at_from", value(one.at_from)},
                      {"figure_at_to", value(one.at_to)}});
    return json;
  };
  Json json = Json::object();
  json["schema_version"] = kSolutionsSchemaVersion;
  json["name"] = s.name;
  json["figure"] = s.metric->name;
  json["more_is_better"] = s.metric->compared.better == Better::more;
  json["goal"] = s.goal ? Json(*s.goal) : Json();
  json["near_best"] = s.near;
  json["evaluator"] = s.replayed ? "replay" : "equations";
  json["along"] = along_json(s.axis, s.pointer, s.range, s.grid);
  json["points"] = Json::array();
  for (const PointSolution& point : s.points) {
    const GoalSearch::Best best = point.search.best();
    Json values = Json::array();
    for (const auto& [x, score] : point.search.scores())
      values.push_back(Json::array({value_json(s.range, x), score > 0 ? Json(value(score)) : Json()}));
    Json one = {{"coordinates", coordinates_json(point.coordinates)},
                {"best", best.score > 0 ? Json{{"at", value_json(s.range, best.value)}, {"figure", value(best.score)}}
                                        : Json()},
                {"near_best", intervals(point.search.near_best())}};
    if (s.goal) one["reached"] = intervals(point.search.reached());
    one["figures"] = std::move(values);
    json["points"].push_back(std::move(one));
  }
  json["notes"] = coded(s.notes);
  json["manifest"] = manifest;
  return json;
}

}  // namespace stepcast
