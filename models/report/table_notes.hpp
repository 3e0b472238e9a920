// Texts below a table of points.
#pragma once

#include <string>

#include "models/report/report.hpp"

namespace stepcast {

/// Notes that a reader should know before trusting the numbers above.
std::string table_notes(const Report& report);

/// The breakdown for each kind of workers; empty if all points have workers of one kind.
std::string kinds_table(const Report& report, bool markdown);

}  // namespace stepcast
