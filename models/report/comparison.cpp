#include "models/report/comparison.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/report/failed_rows.hpp"
#include "models/report/metric_unit.hpp"
#include "models/report/metrics.hpp"
#include "models/report/table_notes.hpp"
#include "models/study/alternatives.hpp"
#include "models/unit/text_table.hpp"

namespace stepcast {
namespace {

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

/// The points by the axes beside the variant, in the study's order; null: a point without an answer.
struct ComparedRows {
  std::vector<std::string> axes, variants;
  std::vector<std::pair<std::vector<std::string>, std::map<std::string, const PointReport*>>> rows;

  explicit ComparedRows(const Report& report) {
    for (const std::string& axis : report.axes)
      if (axis != "variant") axes.push_back(axis);
    for_each_point(
        report, [&](const PointReport& p) { add(p.coordinates, &p); },
        [&](const FailedPoint& failed) { add(failed.coordinates, nullptr); });
  }

 private:
  void add(const std::vector<Coordinate>& coordinates, const PointReport* point) {
    std::vector<std::string> key;
    for (const std::string& axis : axes) key.push_back(value_on(coordinates, axis));
    const std::string variant = value_on(coordinates, "variant");
    if (std::find(variants.begin(), variants.end(), variant) == variants.end()) variants.push_back(variant);
    const auto [place, is_new] = row_of_.try_emplace(key, rows.size());
    if (is_new) rows.push_back({key, {}});
    rows[place->second].second[variant] = point;
  }

  std::map<std::vector<std::string>, std::size_t> row_of_;
};

/// Step times and speedups of all points, by their place in the report; each in one unit and precision.
struct ComparedTexts {
  std::vector<std::string> steps, speedups;

  explicit ComparedTexts(const Report& report) {
    std::vector<double> step, speedup;
    for (const PointReport& p : report.points) {
      step.push_back(p.answers.shown().step.si());
      speedup.push_back(p.speedup.value_or(0));
    }
    steps = kTime.column(step);
    speedups = kRatio.column(speedup);
    for (std::size_t i = 0; i < report.points.size(); ++i)
      if (!report.points[i].speedup) speedups[i] = "-";
  }
};

TextTable compared_table(const Report& report, const ComparedRows& compared, bool with_speedups) {
  const ComparedTexts texts(report);
  TextTable table(compared.axes.size());
  std::vector<std::string> head(compared.axes);
  for (std::size_t v = 0; v < compared.variants.size(); ++v) {
    head.push_back(fmt::format("({})", v + 1));
    if (with_speedups) head.emplace_back("speedup");
  }
  table.add(head);
  for (const auto& [key, points] : compared.rows) {
    std::vector<std::string> row(key);
    double fastest = 0;
    for (const auto& [variant, p] : points)
      if (p) fastest = std::max(fastest, pace_of(*p));
    for (const std::string& variant : compared.variants) {
      const auto found = points.find(variant);
      const PointReport* p = found == points.end() ? nullptr : found->second;
      const auto place = p ? static_cast<std::size_t>(p - report.points.data()) : 0;
      if (!p) row.emplace_back(found == points.end() ? "-" : "failed");
      else
        row.push_back(fmt::format("{} {}{}", texts.steps[place], has_large_gap(*p) ? "!" : "",
                                  pace_of(*p) * (1 + 1e-9) >= fastest ? "*" : " "));
      if (with_speedups) row.push_back(p ? texts.speedups[place] : "-");
    }
    table.add(row);
  }
  return table;
}

}  // namespace

std::string to_comparison(const Report& report, const TableOptions& options) {
  const ComparedRows compared(report);
  TextTable table = compared_table(report, compared, true);
  const bool is_wide = options.width > 0 && !options.markdown && table.width() > options.width;
  if (is_wide) table = compared_table(report, compared, false);
  std::string text;
  for (std::size_t v = 0; v < compared.variants.size(); ++v)
    text += fmt::format("({}) {}\n", v + 1, compared.variants[v]);
  text += fmt::format("step time, * the fastest; speedup against {}\n\n", report.baseline);
  text += options.markdown ? table.markdown() + "\n" : table.text();
  if (is_wide) text += "left out to fit the terminal: speedups; --wide has them\n";
  return text + table_notes(report) + failures(report) +
         fmt::format("\n{} points; the breakdown is in --csv and --json\n", report.points.size());
}

}  // namespace stepcast
