#include "models/report/failed_rows.hpp"

namespace stepcast {

Row failed_row(const std::vector<Metric>& columns, std::size_t axes, const std::vector<Coordinate>& coordinates) {
  PointReport unanswered;
  unanswered.coordinates = coordinates;
  Row row(columns.size());
  for (std::size_t axis = 0; axis < axes; ++axis) row[axis] = columns[axis].value(unanswered);
  return row;
}

}  // namespace stepcast
