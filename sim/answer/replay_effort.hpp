// Estimates how long replays will take.
#pragma once

#include <string>

#include "models/strategy/step_graph.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// The effort to replay a scenario, for all runs together. It is zero if folding leaves little, as for all collectives
/// but NCCL's trees. The estimate is within a factor of two in the measured cases below.
struct ReplayEffort {
  double messages = 0;
  double seconds = 0;  ///< on one core
};

/// Usual number of steps until a steady state is proven. With jitter or asynchronous servers there is none, and
/// max_steps count.
inline constexpr double kStepsToSteadyState = 4;
/// The same for servers on a torus, whose workers wait for different links: 18 to 75.
inline constexpr double kStepsToConvergence = 48;

/// A message of a collective's round takes SimGrid 3.3 us in a round of any size. A message to or from a shard takes
/// longer if more others share links with it when it begins or ends (p workers, M shards):
///
///     synchronous                           2 us + 0.1 us · p: all begin and most end together
///     synchronous on a torus                4 us + 0.1 us · p·M: hardly any two do
///     asynchronous, dedicated shards        4 us + 0.33 us · p: each shard answers one worker after the other
///     asynchronous, a shard on each host    5 us + 0.05 us · p·M
///     on some hosts, with jitter, in        5 us + 0.14 us · p·M: no two are in step
///     fabrics of several hops
///
/// Trees of machines have few like messages. Finding them takes 0.6 us · (1 + p/28000) for each message in rounds that
/// differ.
///
/// Measured on one core, SimGrid 3.32: rounds of up to p = 64 to 512 messages, of trees, halving and doubling and
/// rings, on star, nodes and torus (2.4 to 5 us); shards with p = 8 to 256 and M = 1 to 64, on stars, racks, nodes and
/// tori; 8 pairs of NCCL's trees on 4096 to 65,536 workers, 8 to a machine (2.8, 6.5, 19.7 and 170 s).
ReplayEffort replay_effort(const Scenario& scenario, const StepGraph& graph);

/// Limit on the messages of a replay, sent or folded, that "auto" starts: some five minutes.
inline constexpr double kMostReplayed = 1e8;
/// The reason why "auto" does not start the replay; empty if it does.
std::string refuse_long_replay(const Scenario& scenario, const StepGraph& graph);

/// An announcement of long replays, with ways to shorten them; empty if they are short.
std::string announce_long_replays(const Study& study);

}  // namespace stepcast
