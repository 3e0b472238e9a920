// Facts about the source of a compressor's times.
#pragma once

#include "models/report/report.hpp"

namespace stepcast {

/// Appends notes where no one measured the compressor's kernels on the device, where an implementation's times stand for
/// them, and where a device has such times of other compressors only.
void add_codec_notes(const Scenario& scenario, const StepForecast& forecast, Notes& notes);

}  // namespace stepcast
