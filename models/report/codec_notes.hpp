// Facts about the source of a compressor's times.
#pragma once

#include "models/report/report.hpp"

namespace stepcast {

/// Appends notes where no one measured the compressor's kernels on the device, and where a device's codecs are of another
/// GPU or lack this method.
void add_codec_notes(const Scenario& scenario, const StepForecast& forecast, Notes& notes);

}  // namespace stepcast
