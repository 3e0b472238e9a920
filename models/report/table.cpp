#include "models/report/table.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/describe/fault.hpp"
#include "models/report/comparison.hpp"
#include "models/report/failed_rows.hpp"
#include "models/report/goal.hpp"
#include "models/report/kinds_table.hpp"
#include "models/report/table_notes.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

/// With more points than this, a study with variants becomes a comparison: one row for all variants of a point.
constexpr std::size_t kMostFullRows = 48;

bool is_axis(const Report& report, std::string_view name) {
  return std::find(report.axes.begin(), report.axes.end(), name) != report.axes.end();
}

/// A metric's column of the table.
struct TableColumn {
  const Metric* metric = nullptr;
  std::string title;
  bool is_added = false;  ///< asked for, beside the columns that points ask for

  /// Columns that are aligned alike. A long one comes last.
  [[nodiscard]] bool is_text() const { return metric->unit == &kText || metric->unit == &kTexts; }
  [[nodiscard]] int weight() const { return is_added ? std::numeric_limits<int>::max() : metric->shown.weight; }
};

/// The numbers of a column share unit and precision, if its unit knows how; points without one have "-".
std::vector<std::string> cells_of(const TableColumn& column, const std::vector<PointReport>& points) {
  const Metric& metric = *column.metric;
  std::vector<std::string> cells;
  cells.reserve(points.size());
  for (const PointReport& point : points) cells.push_back(table_cell(metric, point));
  if (metric.shown.cell || !metric.value || !metric.unit->column) return cells;
  std::vector<double> numbers;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (const std::optional<double> number = number_of(metric, points[i])) {
      numbers.push_back(*number);
      places.push_back(i);
    }
  const std::vector<std::string> texts = metric.unit->column(numbers);
  for (std::size_t i = 0; i < places.size(); ++i) cells[places[i]] = texts[i];
  return cells;
}

/// Marks behind the values of a column, as wide as the widest.
void add_marks(const Metric& metric, const std::vector<PointReport>& points, std::vector<std::string>& cells) {
  if (!metric.shown.mark) return;
  std::size_t widest = 0;
  for (const PointReport& point : points) widest = std::max(widest, metric.shown.mark(point).size());
  if (widest == 0) return;
  for (std::size_t i = 0; i < points.size(); ++i)
    cells[i] += fmt::format(" {:<{}}", metric.shown.mark(points[i]), widest);
}

/// Columns that some point asks for, without those that an axis shows already.
std::vector<TableColumn> usual_columns(const Report& report) {
  std::vector<TableColumn> columns;
  for (const Metric& metric : metrics()) {
    const auto shown = [&](const PointReport& p) { return is_shown(metric, p); };
    if (metric.shown.head.empty() || (!metric.name.empty() && is_axis(report, metric.name)) ||
        std::none_of(report.points.begin(), report.points.end(), shown))
      continue;
    columns.push_back({&metric, std::string(metric.shown.head)});
    if (columns.back().is_text() && is_axis(report, metric.shown.head)) columns.back().title = "taken";
  }
  return columns;
}

std::vector<TableColumn> columns_of(const Report& report, const TableOptions& options) {
  std::vector<TableColumn> columns;
  for (const Metric* metric : options.columns)
    columns.push_back({metric, metric->shown.head.empty() ? metric->name : std::string(metric->shown.head), true});
  if (options.columns.empty()) columns = usual_columns(report);
  std::stable_partition(columns.begin(), columns.end(), [](const TableColumn& column) { return !column.is_text(); });
  return columns;
}

/// The table's cells by column, beside the points' axes.
class Rows {
 public:
  Rows(const Report& report, std::vector<TableColumn> columns) : report_(report), columns_(std::move(columns)) {
    for (const TableColumn& column : columns_) {
      cells_.push_back(cells_of(column, report.points));
      add_marks(*column.metric, report.points, cells_.back());
    }
  }

  /// Leaves out the column of the least weight, the last of several. @returns its title, or "" if none can go
  std::string drop_one() {
    const auto least = std::min_element(columns_.rbegin(), columns_.rend(),
                                        [](const auto& a, const auto& b) { return a.weight() < b.weight(); });
    if (columns_.size() < 2 || least->is_added) return "";
    std::string title = least->title;
    const auto place = std::distance(least, columns_.rend()) - 1;
    columns_.erase(columns_.begin() + place);
    cells_.erase(cells_.begin() + place);
    return title;
  }

  /// A row for each point. Points without an answer give the reason at the end.
  [[nodiscard]] TextTable table() const {
    const auto texts = std::count_if(columns_.begin(), columns_.end(), [](const auto& c) { return c.is_text(); });
    TextTable table(report_.axes.size(), columns_.size() - static_cast<std::size_t>(texts));
    std::vector<std::string> head(report_.axes);
    for (const TableColumn& column : columns_) head.push_back(column.title);
    if (!report_.failed.empty()) head.emplace_back("error");
    table.add(head);
    std::size_t next = 0;
    const auto answered = [&](const PointReport& p) {
      std::vector<std::string> row = axes_of(p.coordinates);
      for (const auto& cells : cells_) row.push_back(cells[next]);
      ++next;
      if (!report_.failed.empty()) row.emplace_back();
      table.add(std::move(row));
    };
    const auto failed = [&](const FailedPoint& point) {
      std::vector<std::string> row = axes_of(point.coordinates);
      row.resize(row.size() + columns_.size(), "-");
      row.push_back(point.reason);
      table.add(std::move(row));
    };
    for_each_point(report_, answered, failed);
    return table;
  }

 private:
  [[nodiscard]] std::vector<std::string> axes_of(const std::vector<Coordinate>& coordinates) const {
    std::vector<std::string> row;
    for (const std::string& axis : report_.axes) row.push_back(value_on(coordinates, axis));
    return row;
  }

  const Report& report_;
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> cells_;
};

std::string to_rows(const Report& report, const TableOptions& options, std::vector<TableColumn> columns) {
  Rows rows(report, std::move(columns));
  TextTable table = rows.table();
  std::vector<std::string> dropped;
  while (options.width > 0 && !options.markdown && table.width() > options.width) {
    std::string title = rows.drop_one();
    if (title.empty()) break;
    dropped.push_back(std::move(title));
    table = rows.table();
  }
  std::reverse(dropped.begin(), dropped.end());
  std::string text = options.markdown ? table.markdown() + "\n" : table.text();
  if (!dropped.empty())
    text += fmt::format("left out to fit the terminal: {}; --wide has them\n", fmt::join(dropped, ", "));
  if (std::any_of(report.points.begin(), report.points.end(), is_trained))
    text += fmt::format("speedup is against: {}\n", report.baseline);
  return text + kinds_table(report, options) + table_notes(report);
}

}  // namespace

std::string to_table(const Report& report, const TableOptions& options) {
  const bool is_long = report.points.size() + report.failed.size() > kMostFullRows;
  if (is_long && is_axis(report, "variant") && options.columns.empty()) return to_comparison(report, options);
  return to_rows(report, options, columns_of(report, options));
}

std::string to_ranking(Report report, const Metric& metric, std::size_t most, const std::vector<std::string>& each,
                       const TableOptions& options) {
  const std::size_t all = report.points.size() + report.failed.size();
  for (FailedPoint& failed : report.failed) failed.index = all;  // below the ranked points
  std::map<std::vector<std::string>, std::vector<PointReport>> by_situation;
  std::vector<std::vector<std::string>> situations;  // in the study's order
  for (PointReport& point : report.points) {
    std::vector<std::string> values;
    values.reserve(each.size());
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
  std::vector<TableColumn> columns = columns_of(report, options);
  const auto own =
      std::find_if(columns.begin(), columns.end(), [&](const TableColumn& column) { return column.metric == &metric; });
  if (own != columns.end()) std::rotate(columns.begin(), own, own + 1);
  else columns.insert(columns.begin(), {&metric, std::string(metric.compared.title)});
  columns.front().is_added = true;
  const std::string whose = each.empty() ? "" : fmt::format(" for each {}", fmt::join(each, ", "));
  return fmt::format("the best {} of {} points by {}{}\n", each.empty() ? report.points.size() : most, all,
                     metric.compared.title, whose) +
         to_rows(report, options, std::move(columns));
}

const Metric& find_column(const std::string& name) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics())
    for (const std::string_view own : {metric.shown.head, metric.compared.goal, std::string_view(metric.name)}) {
      if (own.empty()) continue;
      if (own == name) return metric;
      if (std::find(names.begin(), names.end(), own) == names.end()) names.emplace_back(own);
    }
  const std::string near = nearest(name, names);
  throw std::invalid_argument(fmt::format("\"{}\" is no column; allowed: {}{}", name, fmt::join(names, ", "),
                                          near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

}  // namespace stepcast
