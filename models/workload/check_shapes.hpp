// The rules of a layer table that gives shapes.
#pragma once

#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// Appends a fault for each rule that the table breaks: impossible shapes, times beside shapes, a claimed number of
/// parameters that is not the table's, a factorization that names no layer, a profile without the table's type or
/// with entries that are impossible or double.
/// Pointers start at `root`. Whether there is a profile at all is the scenario's question, not the table's.
void check_shapes(const WorkloadTable& table, const std::string& root, std::vector<Fault>& faults);

/// What to do with a time of the whole network that stands beside shapes, for faults.
std::string remedy_of_total(const WorkloadTable& table, const std::string& root);

}  // namespace stepcast
