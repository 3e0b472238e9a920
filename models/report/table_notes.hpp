// Notes below a table of points.
#pragma once

#include <string>

#include "models/report/report.hpp"

namespace stepcast {

/// Notes that a reader should know before trusting the numbers above.
std::string table_notes(const Report& report);

}  // namespace stepcast
