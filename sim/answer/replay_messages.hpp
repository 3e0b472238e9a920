// Counts a replay's messages, and decides whether they are too many to start by default.
#pragma once

#include <string>

#include "models/scenario/scenario.hpp"
#include "models/strategy/step_graph.hpp"

namespace stepcast {

/// Most replays prove their steady state within this many steps, many after one. With jitter or asynchronous servers
/// there is none, and max_steps count.
inline constexpr double kStepsToSteadyState = 4;
/// The same for servers on a torus, whose workers wait for different links: 18 to 75.
inline constexpr double kStepsToConvergence = 48;

/// Tasks of workers that take as long as a message, where a folded replay draws each worker's times.
inline constexpr double kTasksOfMessage = 200;

/// Messages of all steps and runs of a replay in full. Those of asynchronous servers are estimated.
double replay_messages(const Scenario& scenario, const StepGraph& graph);

/// Limit on the messages of a replay, sent or folded, that "auto" starts.
inline constexpr double kMostReplayed = 1e8;
/// The reason why "auto" does not start the replay; empty if it does.
std::string refuse_long_replay(const Scenario& scenario, const StepGraph& graph);

}  // namespace stepcast
