// Facts about compressors: which tensors they have, and the source of their times.
#pragma once

#include "models/report/report.hpp"

namespace stepcast {

/// Appends notes where no one measured the compressor's kernels on the device, where an implementation's times stand for
/// them, and where a device has such times of other compressors only.
void add_codec_notes(const Scenario& scenario, const StepForecast& forecast, Notes& notes);

/// Appends notes on the tensors that stay as they are, and on those of each other compressor.
void add_compressed_tensors(const Scenario& scenario, const Workload& workload, Notes& notes);

}  // namespace stepcast
