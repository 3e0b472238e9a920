#include "models/report/kinds_table.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "models/unit/format.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

struct KindColumn {
  const char* title;
  std::string (*cell)(const WorkerKind& kind, const Breakdown& breakdown);
  /// Whether some kind asks for the column; null: always there.
  bool (*asked)(const KindReport& one, const KindReport& first);
};

std::string numbers_of(const WorkerKind& kind, const Breakdown&) {
  return kind.count == 1 ? std::to_string(kind.first)
                         : fmt::format("{} to {}", kind.first, kind.first + kind.count - 1);
}

/// In the order of the table. A narrow terminal drops the last of those that are not always there first.
constexpr KindColumn kColumns[] = {
    {"workers", numbers_of, nullptr},
    {"speed", [](const WorkerKind& kind, const Breakdown&) { return fmt::format("{:.3g}", kind.speed); },
     [](const KindReport& one, const KindReport& first) { return one.kind.speed != first.kind.speed; }},
    {"link",
     [](const WorkerKind& kind, const Breakdown&) {
       return fmt::format("{}, {}", human_text(kind.link.bandwidth), human_text(kind.link.latency));
     },
     [](const KindReport& one, const KindReport& first) { return one.kind.link != first.kind.link; }},
    {"compute", [](const WorkerKind&, const Breakdown& b) { return share(b.compute(), b.total()); }, nullptr},
    {"exposed comm", [](const WorkerKind&, const Breakdown& b) { return share(b.exposed_communication, b.total()); },
     nullptr},
    {"stack", [](const WorkerKind&, const Breakdown& b) { return share(b.stack, b.total()); },
     [](const KindReport& one, const KindReport&) { return one.breakdown.stack > Seconds{}; }},
    {"codec", [](const WorkerKind&, const Breakdown& b) { return share(b.codec(), b.total()); },
     [](const KindReport& one, const KindReport&) { return one.breakdown.codec() > Seconds{}; }},
    {"waiting", [](const WorkerKind&, const Breakdown& b) { return share(b.waiting, b.total()); },
     [](const KindReport& one, const KindReport&) { return one.breakdown.waiting > Seconds{}; }},
};

std::vector<const KindColumn*> columns_of(const Report& report) {
  std::vector<const KindColumn*> columns;
  for (const KindColumn& column : kColumns) {
    bool is_asked = !column.asked;
    for (const PointReport& p : report.points)
      for (const KindReport& one : p.kinds) is_asked = is_asked || column.asked(one, p.kinds.front());
    if (is_asked) columns.push_back(&column);
  }
  return columns;
}

TextTable table_of(const Report& report, const std::vector<const KindColumn*>& columns) {
  TextTable table(report.axes.size() + 1);
  std::vector<std::string> head(report.axes);
  for (const KindColumn* column : columns) head.emplace_back(column->title);
  table.add(head);
  for (const PointReport& p : report.points)
    for (const auto& [kind, breakdown] : p.kinds) {
      std::vector<std::string> row;
      for (const std::string& axis : report.axes) row.push_back(value_on(p.coordinates, axis));
      for (const KindColumn* column : columns) row.push_back(column->cell(kind, breakdown));
      table.add(row);
    }
  return table;
}

}  // namespace

std::string kinds_table(const Report& report, const TableOptions& options) {
  const bool has_kinds =
      std::any_of(report.points.begin(), report.points.end(), [](const PointReport& p) { return !p.kinds.empty(); });
  if (!has_kinds) return "";
  std::vector<const KindColumn*> columns = columns_of(report);
  TextTable table = table_of(report, columns);
  while (options.width > 0 && !options.markdown && table.width() > options.width) {
    const auto last = std::find_if(columns.rbegin(), columns.rend(), [](const KindColumn* one) { return one->asked; });
    if (last == columns.rend()) break;
    columns.erase(std::next(last).base());
    table = table_of(report, columns);
  }
  return "the breakdown above is the mean of all workers; for each kind of workers, by number from 0, it is\n" +
         (options.markdown ? "\n" + table.markdown() + "\n" : table.text());
}

}  // namespace stepcast
