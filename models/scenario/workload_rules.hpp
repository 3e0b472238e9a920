// The rules inside a layer table.
#pragma once

#include <vector>

#include "models/describe/fault.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// Appends a fault (pointers below /workload) for every rule that the table breaks. There are rules for times, for
/// shapes (workload/check_shapes.hpp), for totals beside them, and for the profile that shapes need.
void check_workload(const WorkloadTable& table, std::vector<Fault>& faults);

}  // namespace stepcast
