// Notes on the reliability of layer times.
#pragma once

#include <string>
#include <vector>

#include "models/describe/note.hpp"
#include "models/part/workload_table.hpp"

namespace stepcast {

/// Layers with a part that has no entry in the profile and work outside the
/// roofline's fit. "update" is last, if this holds for the update or if its
/// tensors are outside its entry's fit. In the table's order, each layer once.
/// @pre the table passed check_shapes
std::vector<std::string> extrapolated_layers(const WorkloadTable& table, const DeviceProfile& profile, int batch);

/// The time of a step's forward, backward and update from the profile. `by_roofline` is the part of it that has no
/// entry and comes from the roofline.
struct TimeByRoofline {
  Seconds all{}, by_roofline{};
};
/// @pre the table passed check_shapes
TimeByRoofline time_by_roofline(const WorkloadTable& table, const DeviceProfile& profile, int batch);

/// Notes on times that were not measured, as sentences without capital and full stop. They name the profile's entries
/// that are not measurements, the unmeasured constants where the roofline prices anything, and the extrapolated layers.
/// If the profile has a spread or layers, they also give the time without an entry and the roofline's spread. Empty
/// without shapes or profile.
/// @pre the table passed check_shapes
Notes timing_notes(const WorkloadTable& table);

}  // namespace stepcast
