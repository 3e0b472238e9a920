// The rules for a device profile's peaks and kernels.
#pragma once

#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/part/profile.hpp"

namespace stepcast {

/// Appends a fault for a type with two peaks, and for a kernel that appears twice. Along knots, bytes must grow and
/// time must not fall.
void check_rates(const DeviceProfile& profile, const std::string& pointer, std::vector<Fault>& faults);

}  // namespace stepcast
