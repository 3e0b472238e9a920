// The results of a calibration as a table for people.
#pragma once

#include <string>
#include <vector>

#include "calibrate/sample_file.hpp"
#include "models/part/profile.hpp"

namespace stepcast::calibrate {

/// Bytes per second of a device's memory, as its makers give them: "3350 GB/s".
std::string memory_rate(BytesPerSecond rate);

/// The device's own rates, then a row for each kernel entry: rates, bends, errors on the sizes held out, spreads, and
/// samples. A row also has the gain of a warm L2 at the largest size, as a median over the role's methods. The profile
/// does not contain this gain.
///
/// The number of kinds of layer work follows. Each step measured as a whole stands beside the assembled one. With
/// `warm` (warm_checks), the step assembled of warm times is there too.
std::string profile_table(const DeviceProfile& profile, const std::vector<Record>& records,
                          const std::vector<StepCheck>& warm = {});

}  // namespace stepcast::calibrate
