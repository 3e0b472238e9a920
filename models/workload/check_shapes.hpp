// The rules of a layer table with shapes.
#pragma once

#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// Appends a fault for each rule that the table breaks. It checks for impossible shapes, times beside shapes, a wrong
/// number of parameters, and a factorization that names no layer. It also checks for a profile without the table's type
/// or with impossible or duplicate entries. Pointers start at `root`. The scenario, not the table, decides whether a
/// profile is required.
void check_shapes(const WorkloadTable& table, const std::string& root, std::vector<Fault>& faults);

/// The remedy in faults for a time of the whole network that stands beside shapes.
std::string remedy_of_total(const WorkloadTable& table, const std::string& root);

}  // namespace stepcast
