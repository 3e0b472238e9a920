// What a reader should know of layer times before trusting them.
#pragma once

#include <string>
#include <vector>

#include "models/scenario/workload.hpp"

namespace stepcast {

/// Layers with a part that the profile has no entry for and whose work the roofline was not fitted on; "update" last
/// where that is so of the update, or where its entry was not fitted on tensors as small or as large. In the table's
/// order, a layer once.
/// @pre the table passed check_shapes
std::vector<std::string> extrapolated_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch);

/// Notes, in whole sentences without capital and full stop, on times that were not measured: which of the profile's
/// entries, and where its roofline prices anything which of its constants, are no measurements, and which layers are
/// extrapolated. Empty without shapes or profile.
/// @pre the table passed check_shapes
std::vector<std::string> timing_notes(const WorkloadTable& table);

}  // namespace stepcast
