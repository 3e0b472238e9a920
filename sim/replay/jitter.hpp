// Random factors on compute times.
#pragma once

#include <cstdint>

#include "models/part/cluster.hpp"

namespace stepcast {

/// The factor on the compute times of `worker` for micro-batch number `micro_batch` in run `run`. Without accumulation,
/// the number is that of the step. The factor has mean 1 and the given coefficient of variation. It depends on the
/// arguments alone, not on the order of events.
double jitter_factor(const Jitter& jitter, std::int64_t seed, int run, int worker, std::int64_t micro_batch);

/// A random number from 0 to 1 for each worker and run; 0 for worker 0.
double begin_by_chance(std::int64_t seed, int run, int worker);

}  // namespace stepcast
