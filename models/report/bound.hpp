// The step time that no schedule can beat.
#pragma once

#include "models/scenario/scenario.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Lower bounds, each on its own; the step can be no shorter than the largest that applies.
struct Bound {
  Seconds compute{};    ///< forward + backward + update of the slowest worker, exchanging nothing
  Seconds latency{};    ///< messages that must follow each other; no bound on a pipelined step
  Seconds bandwidth{};  ///< bytes that must pass the busiest link
  Seconds reduction{};  ///< bytes that the busiest participant must add
  Seconds step{};       ///< the largest that applies
};

/// All-reduce (Chan et al. 2007): ceil(lg p)·α, 2(p-1)/p·nβ, (p-1)/p·nγ.
/// Parameter server: 2α, max(n, p·n/M)·β per direction ((p-1)·n/M co-located), p·n/M·γ on a shard.
/// Gossip: α, 2nβ, 2nγ. n is the payload, after compression; links are the fastest in the cluster.
Bound lower_bound(const Scenario& scenario, const Workload& workload);

}  // namespace stepcast
