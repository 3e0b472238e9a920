// The step time that no schedule can beat.
#pragma once

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Lower bounds, each on its own; the step can be no shorter than the largest that applies. With jitter they hold for
/// the mean compute time, which the mean of a finite sample may undercut. So may a mean of m asynchronous steps
/// bandwidth and reduction, by 2/m at most, for the passes that its window's ends cut.
struct Bound {
  Seconds
      compute{};  ///< forward, backward, codec and update of the slowest worker (asynchronous: at their mean speed), waiting for nothing
  Seconds latency{};  ///< messages that must follow each other; no bound on a pipelined or asynchronous step
  /// Bytes that must pass the busiest host's links or the ways out of machines and racks, or be copied by a host.
  Seconds bandwidth{};
  Seconds
      reduction{};  ///< bytes that the busiest participant must add, or encode again inside a collective; all that the busiest shard of servers does
  Seconds step{};   ///< the largest that applies
  bool communication = true;  ///< whether communication is bounded; not on a platform file
};

/// All-reduce (Chan et al. 2007): ceil(lg p)·α, 2(p-1)/p·n(β + h), (p-1)/p·nγ. Gossip: α, 2n(β + h), 2nγ. Local SGD: a
/// share 1/H of an all-reduce's. Parameter server, synchronous: 2α, max(n, p·n/M)·β in each direction (co-located
/// ((M-1)/M + (p-1)/M)·n) or nh, and what a shard adds (p·n/M·γ), decodes, copies and updates, one after the other;
/// stale-synchronous the same, since nobody is more than a few steps ahead in the long run. Asynchronous, of which some
/// may be far ahead of others: the same of a shard, and with dedicated shards p·n/M·β; and computing at the mean of all
/// speeds, instead of the slowest. Other collectives: their own (lower_bound(Operation), models/collective). n is the
/// buffer after compression. α and β are the best in the cluster: of its fastest link, of all links that a host has,
/// and of one hop where neighbours are so near; but a collective's data, and servers' pushes and pulls, take no less
/// than the way to the farthest worker, or shard, does where that is known (star, nodes, racks). What must leave the G
/// machines or racks for others passes their NICs or uplinks: of an all-reduce 2(G-1)·n over all of them together, and
/// n over the narrowest one's; of communicators that share them, the same for all of these together. Where workers'
/// links are unlike (star, racks) each link is such a way: 2(p-1)·n over all of them together, n over the slowest; of
/// gossip 2n over the slowest; and of servers what the busiest host's own link must carry. A SimGrid platform file
/// bounds computation only.
Bound lower_bound(const Scenario& scenario, const Workload& workload, const StepGraph& graph);

}  // namespace stepcast
