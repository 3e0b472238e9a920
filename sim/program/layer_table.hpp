// A network's layer table as text and as JSON: each layer's kind, size and work, and the totals.
#pragma once

#include <string>

#include "models/describe/json_fwd.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// @pre the table gives shapes and passed check_shapes. With a profile, it also shows times for one step.
std::string layer_table_text(const WorkloadTable& table);
Json layer_table_json(const WorkloadTable& table);

}  // namespace stepcast
