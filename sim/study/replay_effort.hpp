// How long will the replays take?
#pragma once

#include <string>

#include "models/scenario/study.hpp"

namespace stepcast {

/// What replaying a scenario comes to, all runs together; nothing where it is folded. An estimate within a factor of two.
struct ReplayEffort {
  double messages = 0;
  double seconds = 0;  ///< on one core
};

/// Steps until a steady state is usually proven. Where there is none, with jitter and asynchronous servers, max_steps count.
inline constexpr double kStepsToSteadyState = 4;

/// A message of a collective's round takes SimGrid 3.3 us, however few the round has; one to or from a shard 4 us and 0.2 us for
/// each worker, since it shares its links with theirs. Measured on one core, SimGrid 3.32: rounds of up to p = 64 to 512
/// messages, of trees, halving and doubling and rings, on star, nodes and torus (2.4 to 5 us);
/// p = 16 to 256 workers with M = 1 to 16 asynchronous shards, of which synchronous ones need half.
ReplayEffort replay_effort(const Scenario& scenario);

/// What to say before a long silence, with what would shorten it; empty where it is short.
std::string announce_long_replays(const Study& study);

}  // namespace stepcast
