// One process start of a calibration: all subjects and sizes are sampled in an order drawn at random, so that nothing
// that drifts over the run looks like a property of a size; only the device's own rates, without which there is no
// profile, come first. The first start checks each subject just before it takes the first time of it. What the file
// already has is left.
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
  int start = 0;   ///< of the process, from 0
  int starts = 1;  ///< of which there will be so many: for the time left
};

/// Of a subject that differs from its reference no time is taken, in this start and in later ones; where the clock
/// keeps dropping, none of that subject and size. Either is told on the terminal.
/// @return how many subjects those were
/// @throws Interrupted; CalibrationError; what checks and file throw. What was measured until then is in the file.
int measure(const std::vector<Subject>& subjects, const MeasureOptions& options, SampleFile& file,
            const Surroundings& surroundings);

}  // namespace stepcast::calibrate
