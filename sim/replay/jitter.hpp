// Random factors on compute times.
#pragma once

#include <cstdint>

#include "models/part/cluster.hpp"

namespace stepcast {

/// The factor on worker `worker`'s compute times for its micro-batch number `micro_batch` (its step, without
/// accumulation) of run `run`: mean 1, the given coefficient of variation. A function of its arguments alone, so that
/// it does not depend on the order of events.
double jitter_factor(const Jitter& jitter, std::int64_t seed, int run, int worker, std::int64_t micro_batch);

}  // namespace stepcast
