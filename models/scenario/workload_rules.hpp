// The rules inside a layer table.
#pragma once

#include <vector>

#include "models/describe/fault.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// Appends a fault (pointers below /workload) for every rule that the table breaks: of its times or of its shapes
/// (workload/check_shapes.hpp), of totals beside them, and that shapes have a device profile.
void check_workload(const WorkloadTable& table, std::vector<Fault>& faults);

}  // namespace stepcast
