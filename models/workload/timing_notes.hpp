// What a reader should know of layer times before trusting them.
#pragma once

#include <string>
#include <vector>

#include "models/describe/note.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// Layers with a part that the profile has no entry for and whose work the roofline was not fitted on; "update" last
/// where that is so of the update, or where its entry was not fitted on tensors as small or as large. In the table's
/// order, a layer once.
/// @pre the table passed check_shapes
std::vector<std::string> extrapolated_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch);

/// Forward, backward and update of a step as the profile times them, and how much of that has no entry of its own but
/// follows from the roofline.
struct TimeByRoofline {
  Seconds all{}, by_roofline{};
};
/// @pre the table passed check_shapes
TimeByRoofline time_by_roofline(const WorkloadTable& table, const DeviceProfile& profile, int batch);

/// Notes, in whole sentences without capital and full stop, on times that were not measured: which of the profile's
/// entries, and where its roofline prices anything which of its constants, are no measurements, which layers are
/// extrapolated and, where the profile knows a spread or layers, how much of the time has no entry and what the
/// roofline's spread there is. Empty without shapes or profile.
/// @pre the table passed check_shapes
Notes timing_notes(const WorkloadTable& table);

}  // namespace stepcast
