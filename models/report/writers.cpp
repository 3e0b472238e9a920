#include "models/report/writers.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/json.hpp"
#include "models/report/failed_rows.hpp"
#include "models/report/footnotes.hpp"
#include "models/report/goal.hpp"
#include "models/report/rows.hpp"
#include "models/study/alternatives.hpp"
#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

/// With more points than this, a study with variants becomes a comparison: one row for all variants of a point.
constexpr std::size_t kMostFullRows = 48;

bool any_of_points(const Report& report, bool (*holds)(const PointReport&)) {
  return std::any_of(report.points.begin(), report.points.end(), holds);
}

bool is_axis(const Report& report, std::string_view name) {
  return std::find(report.axes.begin(), report.axes.end(), name) != report.axes.end();
}

bool is_trained(const PointReport& p) { return p.samples_per_second > 0; }

/// A metric's column of the table.
struct TableColumn {
  const Metric* metric = nullptr;
  std::string title;
  bool is_added = false;  ///< not a standard column of the table

  /// Columns that are aligned alike. A long one comes last.
  [[nodiscard]] bool is_text() const { return metric->unit == &kText; }
  [[nodiscard]] std::string cell(const PointReport& point) const {
    if (!is_added) return table_cell(*metric, point);
    const std::optional<double> value = number_of(*metric, point);
    return value ? metric->unit->text(*value) : "-";
  }
};

/// Columns that some point asks for, without those that an axis shows already.
std::vector<TableColumn> table_columns(const Report& report) {
  std::vector<TableColumn> columns;
  for (const Metric& metric : metrics()) {
    const auto shown = [&](const PointReport& p) { return is_shown(metric, p); };
    if (metric.shown.head.empty() || (!metric.name.empty() && is_axis(report, metric.name)) ||
        std::none_of(report.points.begin(), report.points.end(), shown))
      continue;
    columns.push_back({&metric, std::string(metric.shown.head)});
    if (columns.back().is_text() && is_axis(report, metric.shown.head)) columns.back().title = "taken";
  }
  std::stable_partition(columns.begin(), columns.end(), [](const TableColumn& column) { return !column.is_text(); });
  return columns;
}

/// Notes that a reader should know before trusting the numbers above.
std::string footnotes(const Report& report) {
  std::string text;
  const auto flagged = std::count_if(report.points.begin(), report.points.end(), has_large_gap);
  if (flagged > 0)
    text += fmt::format("! {} of {} points take more than {} times their lower bound\n", flagged, report.points.size(),
                        kLargeGap);
  const auto replayed = std::count_if(report.points.begin(), report.points.end(), [](const PointReport& p) {
    return p.evaluator == Evaluator::automatic && p.answers.replay;
  });
  const auto all = static_cast<std::ptrdiff_t>(report.points.size());
  if (replayed > 0)
    text += replayed == all
                ? "answered by the replay, because equations would be an estimate\n"
                : fmt::format("{} of {} points answered by the replay, because equations would be an estimate\n",
                              replayed, all);
  Notes notes;
  for (const PointReport& p : report.points) notes.insert(notes.end(), p.notes.begin(), p.notes.end());
  return text + note_lines(notes);
}

std::string link_text(const Link& link) {
  return fmt::format("{}, {}", human_text(link.bandwidth), human_text(link.latency));
}

/// The breakdown for each kind of workers; empty if all points have workers of one kind.
std::string to_kinds_table(const Report& report) {
  bool speed = false, link = false, codec = false, waiting = false;
  for (const PointReport& p : report.points)
    for (const KindReport& one : p.kinds) {
      speed |= one.kind.speed != p.kinds.front().kind.speed;
      link |= one.kind.link != p.kinds.front().kind.link;
      codec |= one.breakdown.codec() > Seconds{};
      waiting |= one.breakdown.waiting > Seconds{};
    }
  TextTable table(report.axes.size() + 1);
  std::vector<std::string> head(report.axes);
  head.insert(head.end(), {"workers", "alike"});
  const auto title = [&](bool on, const char* text) {
    if (on) head.emplace_back(text);
  };
  title(speed, "speed");
  title(link, "link");
  title(true, "compute");
  title(codec, "codec");
  title(true, "exposed comm");
  title(waiting, "waiting");
  table.add(head);
  bool any = false;
  for (const PointReport& p : report.points)
    for (const auto& [kind, b] : p.kinds) {
      any = true;
      const Seconds step = b.total();
      std::vector<std::string> row;
      for (const std::string& axis : report.axes) row.push_back(value_on(p.coordinates, axis));
      row.push_back(kind.count == 1 ? std::to_string(kind.first)
                                    : fmt::format("{} to {}", kind.first, kind.first + kind.count - 1));
      row.push_back(std::to_string(kind.count));
      if (speed) row.push_back(fmt::format("{:.3g}", kind.speed));
      if (link) row.push_back(link_text(kind.link));
      row.push_back(share(b.compute(), step));
      if (codec) row.push_back(share(b.codec(), step));
      row.push_back(share(b.exposed_communication, step));
      if (waiting) row.push_back(share(b.waiting, step));
      table.add(row);
    }
  return any ? "the breakdown above is the mean of all workers; for each kind of workers, by number from 0, it is\n" +
                   table.text()
             : "";
}

/// Samples per second, which compares steps of different sizes; steps per second without training.
double pace_of(const PointReport& p) {
  return p.samples_per_second > 0 ? p.samples_per_second : 1 / p.answers.shown().step.si();
}

/// Lines with the reasons why points have no answer.
std::string failures(const Report& report) {
  std::string text;
  for (const FailedPoint& failed : report.failed)
    text += fmt::format("failed: {}: {}\n", label(failed.coordinates), failed.reason);
  return text;
}

/// Step time and speedup of all variants side by side, "*" at the fastest.
std::string to_comparison(const Report& report) {
  std::vector<std::string> axes, variants;
  for (const std::string& axis : report.axes)
    if (axis != "variant") axes.push_back(axis);
  std::vector<std::pair<std::vector<std::string>, std::map<std::string, const PointReport*>>> rows;
  std::map<std::vector<std::string>, std::size_t> row_of;
  const auto add = [&](const std::vector<Coordinate>& coordinates, const PointReport* point) {
    std::vector<std::string> key;
    for (const std::string& axis : axes) key.push_back(value_on(coordinates, axis));
    const std::string variant = value_on(coordinates, "variant");
    if (std::find(variants.begin(), variants.end(), variant) == variants.end()) variants.push_back(variant);
    const auto [place, is_new] = row_of.try_emplace(key, rows.size());
    if (is_new) rows.push_back({key, {}});
    rows[place->second].second[variant] = point;
  };
  for_each_point(
      report, [&](const PointReport& p) { add(p.coordinates, &p); },
      [&](const FailedPoint& failed) { add(failed.coordinates, nullptr); });

  TextTable table(axes.size());
  std::vector<std::string> head(axes);
  for (std::size_t v = 0; v < variants.size(); ++v) {
    head.push_back(fmt::format("({})", v + 1));
    head.emplace_back("speedup");
  }
  table.add(head);
  for (const auto& [key, points] : rows) {
    std::vector<std::string> row(key);
    double fastest = 0;
    for (const auto& [variant, p] : points)
      if (p) fastest = std::max(fastest, pace_of(*p));
    for (const std::string& variant : variants) {
      const auto found = points.find(variant);
      if (found == points.end() || !found->second) {
        row.insert(row.end(), {found == points.end() ? "-" : "failed", "-"});
        continue;
      }
      const PointReport& p = *found->second;
      const bool best = pace_of(p) * (1 + 1e-9) >= fastest;
      row.push_back(
          fmt::format("{} {}{}", human_text(p.answers.shown().step), has_large_gap(p) ? "!" : "", best ? "*" : " "));
      row.push_back(p.speedup ? fmt::format("{:.3g}x", *p.speedup) : "-");
    }
    table.add(row);
  }
  std::string text;
  for (std::size_t v = 0; v < variants.size(); ++v) text += fmt::format("({}) {}\n", v + 1, variants[v]);
  return text + "step time, * the fastest; " + fmt::format("speedup against {}\n\n", report.baseline) + table.text() +
         footnotes(report) + failures(report) +
         fmt::format("\n{} points; the breakdown is in --csv and --json\n", report.points.size());
}

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

/// A row for each point. Points without an answer give the reason at the end.
std::string to_rows(const Report& report, const std::vector<TableColumn>& columns) {
  const bool has_text = !columns.empty() && columns.back().is_text();
  TextTable table(report.axes.size(), columns.size() - (has_text ? 1 : 0));
  std::vector<std::string> head(report.axes);
  for (const TableColumn& column : columns) head.push_back(column.title);
  if (!report.failed.empty()) head.emplace_back("error");
  table.add(head);
  const auto begin = [&](const std::vector<Coordinate>& coordinates) {
    std::vector<std::string> row;
    for (const std::string& axis : report.axes) row.push_back(value_on(coordinates, axis));
    return row;
  };
  const auto answered = [&](const PointReport& p) {
    std::vector<std::string> row = begin(p.coordinates);
    for (const TableColumn& column : columns) row.push_back(column.cell(p));
    if (!report.failed.empty()) row.emplace_back();
    table.add(row);
  };
  const auto failed = [&](const FailedPoint& point) {
    std::vector<std::string> row = begin(point.coordinates);
    row.resize(row.size() + columns.size(), "-");
    row.push_back(point.reason);
    table.add(row);
  };
  for_each_point(report, answered, failed);
  std::string text = table.text();
  if (any_of_points(report, is_trained)) text += fmt::format("speedup is against: {}\n", report.baseline);
  return text + to_kinds_table(report) + footnotes(report);
}

}  // namespace

std::string to_table(const Report& report) {
  if (report.points.size() + report.failed.size() > kMostFullRows && is_axis(report, "variant"))
    return to_comparison(report);
  return to_rows(report, table_columns(report));
}

std::string to_ranking(Report report, const Metric& metric, std::size_t most, const std::vector<std::string>& each) {
  const std::size_t all = report.points.size() + report.failed.size();
  for (FailedPoint& failed : report.failed) failed.index = all;  // below the ranked points
  std::map<std::vector<std::string>, std::vector<PointReport>> by_situation;
  std::vector<std::vector<std::string>> situations;  // in the study's order
  for (PointReport& point : report.points) {
    std::vector<std::string> values;
    for (const std::string& axis : each) values.push_back(value_on(point.coordinates, axis));
    auto& points = by_situation[values];
    if (points.empty()) situations.push_back(values);
    points.push_back(std::move(point));
  }
  report.points.clear();
  for (const std::vector<std::string>& situation : situations) {
    std::vector<PointReport>& points = by_situation[situation];
    std::stable_sort(points.begin(), points.end(), [&](const PointReport& a, const PointReport& b) {
      return score_of(metric, a) > score_of(metric, b);
    });
    points.resize(std::min(most, points.size()));
    std::move(points.begin(), points.end(), std::back_inserter(report.points));
  }
  std::vector<TableColumn> columns = table_columns(report);
  const auto own =
      std::find_if(columns.begin(), columns.end(), [&](const TableColumn& column) { return column.metric == &metric; });
  if (own != columns.end()) std::rotate(columns.begin(), own, own + 1);
  else columns.insert(columns.begin(), {&metric, std::string(metric.compared.title), true});
  const std::string whose = each.empty() ? "" : fmt::format(" for each {}", fmt::join(each, ", "));
  return fmt::format("the best {} of {} points by {}{}\n", each.empty() ? report.points.size() : most, all,
                     metric.compared.title, whose) +
         to_rows(report, columns);
}

std::string to_csv(const Report& report) {
  const auto columns = report_columns(report);
  std::vector<std::string> names;
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
    Row row = failed_row(columns, report.axes.size(), point.coordinates);
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
  json["baseline"] = report.baseline;
  json["baseline_given"] = report.given_baseline;
  json["axes"] = report.axes;
  json["columns"] = Json::object();
  for (const Metric& column : columns) json["columns"][column.name] = column.meaning;
  json["columns"]["worker_kinds"] =
      "if workers differ in speed or link: the kinds of workers, each with its breakdown of a step; otherwise the "
      "breakdown is the mean of all";
  if (!report.failed.empty()) json["columns"]["error"] = "why the point has no answer";
  json["columns"]["coded_notes"] = "the notes, each with a code that stays when its text changes";
  json["points"] = Json::array();
  const auto answered = [&](const PointReport& point) {
    Json row = Json::object();
    for (const Metric& column : columns) row[column.name] = json_of(column.value(point));
    row["coded_notes"] = coded(point.notes);
    if (!point.kinds.empty()) row["worker_kinds"] = kinds_json(point.kinds);
    if (!report.failed.empty()) row["error"] = nullptr;
    json["points"].push_back(std::move(row));
  };
  const auto failed = [&](const FailedPoint& point) {
    const Row cells = failed_row(columns, report.axes.size(), point.coordinates);
    Json row = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i].name] = json_of(cells[i]);
    row["error"] = point.reason;
    json["points"].push_back(std::move(row));
  };
  for_each_point(report, answered, failed);
  json["manifest"] = manifest;
  return json;
}

}  // namespace stepcast
