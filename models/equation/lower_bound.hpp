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
  /// Forward, backward, codec and update of the slowest worker, waiting for nothing; of asynchronous workers at the
  /// mean of all speeds.
  Seconds compute{};
  Seconds latency{};  ///< messages that must follow each other; no bound on a pipelined or asynchronous step
  /// Bytes that must pass the busiest host's links or the ways out of machines and racks, or be copied by a host.
  Seconds bandwidth{};
  /// Bytes that the busiest participant must add, or encode again inside a collective; of servers all that the busiest
  /// shard does.
  Seconds reduction{};
  Seconds step{};             ///< the largest that applies
  bool communication = true;  ///< whether latency and bandwidth are bounded; not on a platform file
};

/// For p workers, M shards and n bytes, the buffer after compression:
///
///     exchange                      latency       bandwidth                                            reduction
///     all-reduce (Chan et al. 2007) ceil(lg p)·α  2(p-1)/p·n·(β + h)                                   (p-1)/p·n·γ
///     other collectives             as lower_bound(Operation, ...) in models/collective has them
///     local SGD, rounds of H steps  an all-reduce's, each divided by H
///     gossip (of two workers half)  α             2n·(β + h)                                           2n·γ
///     servers, dedicated            2α            max(n·β, p·n/M·β, n·h)                               a shard's
///     servers, co-located           2α            max(((M-1)/M·push + (p-1)/M·pull)·β, (M-1)/M·n·h)    a shard's
///     asynchronous, dedicated       2α            p·n/M·β                                              a shard's
///     asynchronous, co-located      none          none                                                 a shard's
///
/// Of several collectives in a step the terms add up. Of servers n is what a worker pushes, or pulls if that is more.
/// Stale-synchronous servers are as synchronous ones, since nobody is more than a few steps ahead in the long run; of
/// asynchronous workers some may be far ahead of others.
///
/// α and β are the best in the cluster (best_link.hpp). But latency is at least that of the way to the farthest worker,
/// or shard, where data must go there and that way is known: on a star, nodes and racks (latency_bound.hpp).
///
/// β's part of the bandwidth is at least what the ways out of machines and racks need, and hosts' own links on a star
/// and in racks (ways_bound.hpp), asynchronous servers left out:
///
///     all-reduce              2(G-1)·n over the ways of all G machines or racks together, n over the narrowest one's;
///                             of communicators that share ways, all of theirs
///     other collectives       likewise (ways_bound.cpp)
///     gossip                  up to 2n over the busiest way
///     servers, equal shards   what the busiest way carries
///
/// A collective whose messages are encoded again in each round spends p-1 times that on the reduction, instead of γ. A
/// shard adds p·n/M·γ, decodes, copies for the other hosts' workers and updates, one after the other; the busiest one
/// counts. On a SimGrid platform file neither latency nor bandwidth is bounded.
Bound lower_bound(const Scenario& scenario, const Workload& workload, const StepGraph& graph);

}  // namespace stepcast
