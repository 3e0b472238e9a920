// The rules between a device profile's peaks, and between the fields of its kernels.
#pragma once

#include <string>
#include <vector>

#include "models/describe/fault.hpp"
#include "models/part/profile.hpp"

namespace stepcast {

/// Appends a fault for a type with two peaks, for a kernel that is named twice, and for knots along which bytes do not
/// grow or time falls.
void check_rates(const DeviceProfile& profile, const std::string& pointer, std::vector<Fault>& faults);

}  // namespace stepcast
