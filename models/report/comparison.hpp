// A long table of points with variants: one row for all variants of a point.
#pragma once

#include <string>

#include "models/report/report.hpp"
#include "models/report/table_options.hpp"

namespace stepcast {

/// Step time and speedup of all variants side by side, "*" at the fastest.
std::string to_comparison(const Report& report, const TableOptions& options = {});

}  // namespace stepcast
