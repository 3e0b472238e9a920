// A lower bound on the step time, for any schedule.
#pragma once

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"
#include "models/workload/workload.hpp"

namespace stepcast {

/// Separate lower bounds. The step is at least the largest that applies. With jitter, they hold for the mean compute
/// time; the mean of a finite sample may be smaller. A mean of m asynchronous steps may be below bandwidth and
/// reduction by at most 2/m, because its window cuts passes at both ends.
struct Bound {
  /// Forward, backward, codec and update of the slowest worker without waiting. For asynchronous workers, at the mean
  /// of all speeds. Beside backup workers, of the slowest whom an update needs. With jitter, each pass may have other
  /// slow workers; then p-b passes at the sum of all speeds.
  Seconds compute{};
  Seconds latency{};  ///< messages that follow each other; not for pipelined or asynchronous steps
  /// Bytes on the busiest host's links or on the ways out of machines and racks, or bytes that a host copies.
  Seconds bandwidth{};
  /// Bytes that the busiest participant adds, or encodes again inside a collective. For servers, all the work of the
  /// busiest shard.
  Seconds reduction{};
  Seconds step{};             ///< the largest that applies
  bool communication = true;  ///< whether latency and bandwidth apply; false on a platform file
};

/// For p workers, M shards and n bytes, the compressed buffer:
///
///     exchange                      latency       bandwidth                                            reduction
///     all-reduce (Chan et al. 2007) ceil(lg p)·α  2(p-1)/p·n·(β + h)                                   (p-1)/p·n·γ
///     all-reduce in switches        α             n·(β + h)                                            0
///     other collectives             see lower_bound(Operation, ...) in models/collective
///     local SGD, rounds of H steps  an all-reduce's, each divided by H
///     gossip, d neighbours at most  α             d·n·(β + h)                                          d·n·γ
///     asynchronous pairs            none          none: those who answer never wait                    none
///     servers, dedicated            2α            max(n·β, p·n/M·β, n·h)                               a shard's
///     servers, co-located           2α            max(((M-1)/M·push + (p-1)/M·pull)·β, (M-1)/M·n·h)    a shard's
///     asynchronous, dedicated       2α            p·n/M·β                                              a shard's
///     backup workers, dedicated     2α            (p-b)·n/M·β                                          a shard's
///     both, co-located              none          none                                                 a shard's
///
/// The terms of several collectives in a step add up. For servers, n = max(bytes pushed, bytes pulled).
/// Stale-synchronous servers have the bounds of synchronous ones, since no worker leads by more than a few steps in the
/// long run. Asynchronous workers may be far ahead of others.
///
/// α and β are the best in the cluster (best_link.hpp). But latency is at least that of the path to the farthest worker
/// or shard, if data must go there. The path is known on a star, nodes and racks (latency_bound.hpp).
///
/// The ways out of machines and racks, and hosts' own links on a star and in racks, bound β's part of the bandwidth
/// (ways_bound.hpp). This excludes asynchronous servers:
///
///     all-reduce              2(G-1)·n over the ways of all G machines or racks together, n over the narrowest one's;
///                             communicators that share ways: the sum over all of them; in switches, n over the
///                             narrowest one's ways alone
///     other collectives       similar (ways_bound.cpp)
///     gossip                  the messages over the busiest way
///     servers, equal shards   the load of the busiest way
///
/// If a collective encodes in each round, its reduction takes p-1 times the encoding time instead of γ. A shard adds
/// p·n/M·γ, decodes, copies for workers on other hosts, and updates, all in sequence; the busiest shard counts. On a
/// SimGrid platform file, there is no bound on latency and bandwidth.
Bound lower_bound(const Scenario& scenario, const Workload& workload, const StepGraph& graph);

}  // namespace stepcast
