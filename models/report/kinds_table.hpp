// The breakdown for each kind of workers, where groups differ in speed or link.
#pragma once

#include <string>

#include "models/report/report.hpp"
#include "models/report/table_options.hpp"

namespace stepcast {

/// A table with a line above it that explains it; empty if all points have workers of one kind.
std::string kinds_table(const Report& report, const TableOptions& options);

}  // namespace stepcast
