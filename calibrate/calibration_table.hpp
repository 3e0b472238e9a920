// The results of a calibration as a table for people.
#pragma once

#include <string>
#include <vector>

#include "calibrate/sample_file.hpp"
#include "models/part/profile.hpp"

namespace stepcast::calibrate {

/// Bytes per second of a device's memory, as its makers give them: "3350 GB/s".
std::string memory_rate(BytesPerSecond rate);

/// The device's own rates, then a row for each kernel entry: rates, where they bend, errors on the sizes held out,
/// spreads, samples, and what a warm L2 saves at the largest size (median over the pass's methods; no part of the
/// profile). How many kinds of layer work there are, and each step that was measured whole beside the one assembled,
/// and that assembled of warm times, where `warm` has it (warm_checks).
std::string profile_table(const DeviceProfile& profile, const std::vector<Record>& records,
                          const std::vector<StepCheck>& warm = {});

}  // namespace stepcast::calibrate
