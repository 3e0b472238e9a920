// One process start of a calibration: all subjects and sizes are sampled in random order. A drift over the run then
// does not look like a property of a size. Only the device's own rates come first: without them there is no profile.
// The first start checks each subject just before the subject's first timing. Records that the file already has are not
// measured again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "calibrate/sample_file.hpp"
#include "calibrate/sampling.hpp"
#include "calibrate/subject.hpp"

namespace stepcast::calibrate {

struct MeasureOptions {
  SamplingRules rules;
  std::uint64_t seed = 0;
  int start = 0;   ///< index of the process start, from 0
  int starts = 1;  ///< number of starts: for the time left
};

/// A subject that differs from its reference is not timed, in this start and in later ones. If the clock keeps
/// dropping, that subject and size are not timed. The terminal shows both cases.
/// @return the number of those subjects
/// @throws Interrupted; CalibrationError; errors of checks and file. The file keeps all measurements until then.
int measure(const std::vector<Subject>& subjects, const MeasureOptions& options, SampleFile& file,
            const Surroundings& surroundings);

}  // namespace stepcast::calibrate
