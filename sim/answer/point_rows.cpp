#include "sim/answer/point_rows.hpp"

#include <cstring>

#include "models/describe/json.hpp"
#include "models/report/axis_columns.hpp"
#include "models/report/failed_rows.hpp"
#include "models/report/rows.hpp"
#include "sim/answer/frames.hpp"

namespace stepcast {
namespace {

std::vector<Metric> columns_of(const Study& study) {
  Report report;
  report.axes = study.axes;
  report.axis_units = axis_units(study);
  return report_columns(report);
}

std::string text_of(RowFormat format, const std::vector<std::string>& names, std::size_t point, const Row& row) {
  switch (format) {
    case RowFormat::csv: return csv_row(row);
    case RowFormat::json_lines: return json_row(names, row);
    case RowFormat::shard: break;
  }
  return numbered_row(point, row);
}

}  // namespace

std::string pack(const PointRow& row) {
  const double numbers[] = {row.difference.value_or(0), row.tolerance};
  std::string packed;
  put_frame(packed, row.error);
  put_frame(packed, row.difference ? std::string_view(reinterpret_cast<const char*>(numbers), sizeof numbers) : "");
  for (const std::string& text : row.texts) put_frame(packed, text);
  return packed;
}

PointRow unpack_row(std::string_view packed) {
  PointRow row;
  row.error = take_frame(packed);
  if (const std::string_view both = take_frame(packed); !both.empty()) {
    double numbers[2];
    std::memcpy(numbers, both.data(), sizeof numbers);
    row.difference = numbers[0];
    row.tolerance = numbers[1];
  }
  while (!packed.empty()) row.texts.emplace_back(take_frame(packed));
  return row;
}

PointRows::PointRows(const Study& study, std::vector<RowFormat> formats)
    : study_(study), formats_(std::move(formats)), columns_(columns_of(study)) {
  for (const Metric& column : columns_) names_.push_back(column.name);
  names_.emplace_back("error");
}

PointRow PointRows::make(std::size_t point, const PointAnswer& answer) const {
  PointRow made{{}, answer.reason, {}, 0};
  Row row;
  if (answer.report) {
    made.difference = answer.report->answers.difference();
    made.tolerance = answer.report->tolerance;
    for (const Metric& column : columns_) row.push_back(column.value(*answer.report));
  } else {
    row = failed_row(columns_, study_.points[point].coordinates);
  }
  row.push_back(answer.report ? Cell() : Cell(answer.reason));
  for (const RowFormat format : formats_) made.texts.push_back(text_of(format, names_, point, row));
  return made;
}

}  // namespace stepcast
