// A network's layer table for people and as JSON: what each layer is, holds and computes, and the totals.
#pragma once

#include <string>

#include "models/describe/json_fwd.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// @pre the table gives shapes and passed check_shapes. With a profile there are times, of one step.
std::string layer_table_text(const WorkloadTable& table);
Json layer_table_json(const WorkloadTable& table);

}  // namespace stepcast
