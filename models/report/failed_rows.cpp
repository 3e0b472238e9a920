#include "models/report/failed_rows.hpp"

#include "models/report/axis_columns.hpp"

namespace stepcast {

Row failed_row(const std::vector<Metric>& columns, const std::vector<Coordinate>& coordinates) {
  PointReport unanswered;
  unanswered.coordinates = coordinates;
  Row row;
  for (const Metric& column : columns) row.push_back(is_axis_column(column) ? column.value(unanswered) : Cell());
  return row;
}

}  // namespace stepcast
