// How a table of points is laid out.
#pragma once

#include <cstddef>
#include <vector>

#include "models/report/metrics.hpp"

namespace stepcast {

struct TableOptions {
  /// Characters of a line of the terminal. Columns of little weight are left out until the table fits; 0: no limit.
  std::size_t width = 0;
  std::vector<const Metric*> columns{};  ///< columns beside the axes; empty: those that the points ask for
  bool markdown = false;
};

}  // namespace stepcast
