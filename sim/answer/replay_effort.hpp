// How long will the replays take?
#pragma once

#include <string>

#include "models/strategy/step_graph.hpp"
#include "models/study/study.hpp"

namespace stepcast {

/// What replaying a scenario comes to, all runs together; nothing where it is folded to little, as all collectives are
/// but NCCL's trees. An estimate within a factor of two, of the cases named below.
struct ReplayEffort {
  double messages = 0;
  double seconds = 0;  ///< on one core
};

/// Steps until a steady state is usually proven. Where there is none, with jitter and asynchronous servers, max_steps
/// count.
inline constexpr double kStepsToSteadyState = 4;
/// Of servers on a torus, whose workers wait for different links: 18 to 75.
inline constexpr double kStepsToConvergence = 48;

/// A message of a collective's round takes SimGrid 3.3 us, however few the round has. One to or from a shard takes the
/// longer the more others share links with it when it begins or ends (p workers, M shards):
///
///     synchronous                           2 us + 0.1 us · p, since all begin and most end together
///     synchronous on a torus                4 us + 0.1 us · p·M, since hardly any two do
///     asynchronous, dedicated shards        4 us + 0.33 us · p: each shard answers one after the other
///     asynchronous, a shard on each host    5 us + 0.05 us · p·M
///     on some hosts, with jitter, in        5 us + 0.14 us · p·M: nobody is in step with others
///     fabrics of several hops
///
/// Trees of machines have few like messages: finding those takes 0.6 us · (1 + p/28000) for each of the messages in rounds
/// that are unlike.
///
/// Measured on one core, SimGrid 3.32: rounds of up to p = 64 to 512 messages, of trees, halving and doubling and
/// rings, on star, nodes and torus (2.4 to 5 us); shards with p = 8 to 256 and M = 1 to 64, on stars, racks, nodes and
/// tori; 8 pairs of NCCL's trees on 4096 to 65,536 workers, 8 to a machine (2.8, 6.5, 19.7 and 170 s).
ReplayEffort replay_effort(const Scenario& scenario, const StepGraph& graph);

/// Messages of a replay, sent or folded, that "auto" starts at most: some five minutes.
inline constexpr double kMostReplayed = 1e8;
/// Why "auto" does not start the replay; empty where it does.
std::string refuse_long_replay(const Scenario& scenario, const StepGraph& graph);

/// What to say before a long silence, with what would shorten it; empty where it is short.
std::string announce_long_replays(const Study& study);

}  // namespace stepcast
